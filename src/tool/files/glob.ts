/**
 * File name patterns: `*` any characters but "/", `?` one of them, `**` any folders. Matched by walking, in
 * time proportional to pattern times path: no pattern can make it slow.
 */

/** Characters of a pattern. */
export const GLOB_CHARS_MAX = 1000;

const matchesName = (pattern: string, name: string): boolean => {
  let p = 0;
  let n = 0;
  let star = -1;
  let resume = 0;
  while (n < name.length) {
    if (pattern[p] === '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.length && (pattern[p] === '?' || pattern[p] === name[n])) {
      p += 1;
      n += 1;
    } else if (star !== -1) {
      p = star + 1;
      n = ++resume;
    } else return false;
  }
  while (pattern[p] === '*') p += 1;
  return p === pattern.length;
};

/** Whether a path matches. A pattern without "/" is held against the last name alone: "*.md". */
export const matchesGlob = (pattern: string, path: string): boolean => {
  const names = path.split('/');
  if (!pattern.includes('/')) return matchesName(pattern, names.at(-1) ?? '');
  // reach[i]: the first i names are matched by the parts of the pattern so far.
  let reach: readonly boolean[] = [true, ...names.map(() => false)];
  for (const part of pattern.split('/').filter((text) => text !== '' && text !== '.')) {
    if (part === '**') {
      const first = reach.indexOf(true);
      reach = reach.map((_, at) => first !== -1 && at >= first);
    } else
      reach = reach.map(
        (_, at) => at > 0 && reach[at - 1] === true && matchesName(part, names[at - 1] ?? ''),
      );
  }
  return reach.at(-1) === true;
};
