/** A bundle as a store in memory, so that whatever reads a store reads a bundle; and what it proves. */
import { open } from '../event/envelope.ts';
import { MemoryLog } from '../log/memory.ts';
import { PAGE_EVENTS } from '../log/pages.ts';
import type { LogStore } from '../log/store.ts';
import { verify, type Finding, type Verified, type VerifyOptions } from '../replay/verify.ts';
import { blobsNamed } from '../replay/named-blobs.ts';
import { evolve, initial } from '../session/evolve.ts';
import { summaryOf } from '../session/summary.ts';
import type { SessionSummary } from '../event/summary.ts';
import { markedDigest } from './marker.ts';
import type { Bundle } from './read.ts';
import { definitionOf } from './write.ts';

/** Holds the bundle's session alone. Damage is no hindrance: it is there to be looked at. */
export const bundleStore = async ({ manifest, events, blobs }: Bundle): Promise<LogStore> => {
  const store = new MemoryLog();
  const { session } = manifest;
  const kept = [...blobs].map(([digest, bytes]) => ({ digest, bytes }));
  for (let from = 0; from < events.length; from += PAGE_EVENTS)
    await store.append({
      session,
      expected: from,
      events: events.slice(from, from + PAGE_EVENTS),
      ...(from === 0 && { blobs: kept }),
    });
  return store;
};

export const bundleSummary = ({ manifest, events }: Bundle): SessionSummary => {
  let state = initial(manifest.session);
  for (const stored of events) state = evolve(state, open(stored));
  return summaryOf(state);
};

/** Everything that a bundle can prove: its own lines, and the session in it. */
export const verifyBundle = async (
  bundle: Bundle,
  store: LogStore,
  options: Pick<VerifyOptions, 'replay'>,
): Promise<Verified> => {
  const { manifest, removed } = bundle;
  if (bundle.events.length === 0) return nothingIn(bundle);
  const found = await verify(store, manifest.session, {
    ...options,
    removed: { ...removed, partDigest: markedDigest },
  });
  return { ...found, findings: [...bundle.findings, ...found.findings, ...crossFindings(bundle, found)] };
};

const nothingIn = ({ manifest, findings }: Bundle): Verified => ({
  session: manifest.session,
  events: 0,
  blobs: 0,
  requests: 0,
  decisions: 0,
  removed: { events: 0, blobs: 0, requests: 0 },
  head: '' as Verified['head'],
  findings: [...findings, { seq: 0, kind: 'bundle', message: 'The bundle holds no event.' }],
});

/** What the manifest and the blobs say beside the events. Only where those can be read. */
const crossFindings = (bundle: Bundle, { findings }: Verified): readonly Finding[] => {
  if (findings.some(({ kind }) => kind === 'unreadable')) return [];
  const { manifest, events, blobs, removed } = bundle;
  const named = new Set(events.flatMap((stored) => blobsNamed(open(stored).data)));
  const found: Finding[] = [];
  const find = (message: string): void => void found.push({ seq: 0, kind: 'bundle', message });
  for (const digest of [...blobs.keys(), ...removed.blobs])
    if (!named.has(digest)) find(`Blob ${digest} is named by no event.`);
  const whole = events.filter(({ seq }) => !removed.data.has(seq)).flatMap((one) => definitionOf(one) ?? []);
  const said = manifest.definitions.filter(({ seq }) => !removed.data.has(seq));
  if (JSON.stringify(whole) !== JSON.stringify(said))
    find('The manifest names other definitions than the events hold.');
  return found;
};
