/** The bytes of a request as they were sent, and the reply as the record has it. */
import { useState, type ReactNode } from 'react';
import type { EventView, Page } from '../../server/schemas.ts';
import { formatBytes, formatCount } from '../../view/format.ts';
import { door } from '../data/door.ts';
import { useQuery } from '../data/query.ts';
import { HashChip } from '../parts/hash-chip.tsx';
import { Empty, Loading, ProblemNote } from '../parts/states.tsx';
import { Revealed } from '../parts/text.tsx';
import { sessionUrl } from './session-data.ts';

/** Characters shown first. */
const SHOWN_FIRST = 64 * 1024;

type Bytes = { readonly text: string; readonly bytes: number; readonly digest: string };

const load = async (path: string, signal: AbortSignal): Promise<Bytes> => {
  const bytes = await door.bytes(path, signal);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const digest = Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { text: new TextDecoder().decode(bytes), bytes: bytes.length, digest };
};

export const RawBytes = ({
  session,
  number,
}: {
  readonly session: string;
  readonly number: number;
}): ReactNode => {
  const path = sessionUrl(session, `/requests/${number}`);
  const { data, problem, again } = useQuery(`${path} bytes`, (signal) => load(path, signal));
  if (problem !== undefined) return <ProblemNote problem={problem} again={again} />;
  if (!data) return <Loading what="the bytes" />;
  return (
    <div className="raw">
      <p className="caption foot">
        {formatBytes(data.bytes)}, rebuilt from the record alone. SHA-256{' '}
        <HashChip value={data.digest} what="digest" />
      </p>
      <LongText text={data.text} />
    </div>
  );
};

export const Reply = ({
  session,
  seq,
}: {
  readonly session: string;
  readonly seq: number | undefined;
}): ReactNode => {
  const path = sessionUrl(session, `/events?from=${seq ?? 1}&to=${seq ?? 1}`);
  const { data, problem, again } = useQuery<Page<EventView>>(seq === undefined ? undefined : path, (signal) =>
    door.read(path, signal),
  );
  if (seq === undefined)
    return (
      <Empty title="No reply">
        <p>No answer to this request is recorded.</p>
      </Empty>
    );
  if (problem !== undefined) return <ProblemNote problem={problem} again={again} />;
  const [event] = data?.items ?? [];
  if (!event) return <Loading what="the reply" />;
  return (
    <div className="raw">
      <p className="caption foot">Event {seq} as it stands in the log.</p>
      <LongText text={JSON.stringify(event.data, null, 2)} />
    </div>
  );
};

const LongText = ({ text }: { readonly text: string }): ReactNode => {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? text : text.slice(0, SHOWN_FIRST).toWellFormed();
  return (
    <>
      <pre className="bytes">
        <Revealed text={shown} newlines indent />
      </pre>
      {shown.length < text.length && (
        <p className="caption foot">
          The first {formatCount(shown.length)} of {formatCount(text.length)} characters.{' '}
          <button className="button small" type="button" onClick={() => setWhole(true)}>
            Show all
          </button>
        </p>
      )}
    </>
  );
};
