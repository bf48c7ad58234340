/**
 * Names of tools towards providers. Here a name may hold dots ("mail.read"); providers allow letters, digits, "_"
 * and "-". A function of the name alone, so that an element of a request never changes.
 */

/** Anthropic allows more; this is the least of all. */
export const WIRE_NAME_CHARS_MAX = 64;

/** `mail.read` becomes `mail__read`. A name that a model made up is made sendable. */
export const wireToolName = (name: string): string => {
  const sendable = name.replaceAll('.', '__').replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return sendable === '' ? '_' : sendable.slice(0, WIRE_NAME_CHARS_MAX);
};

/** The tool that a model means, or its word for it where there is none. */
export const ownToolName = (wire: string, tools: readonly { readonly name: string }[]): string =>
  tools.find(({ name }) => wireToolName(name) === wire)?.name ?? wire;

/** Why these tools cannot be offered together; undefined where they can. */
export const toolNamesProblem = (tools: readonly { readonly name: string }[]): string | undefined => {
  const taken = new Map<string, string>();
  for (const { name } of tools) {
    const wire = wireToolName(name);
    const other = taken.get(wire);
    if (other !== undefined)
      return `the model cannot tell the tools "${other}" and "${name}" apart: both are sent as "${wire}"`;
    taken.set(wire, name);
  }
  return undefined;
};
