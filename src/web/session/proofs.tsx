/** What the record proves: every decision made again, every hash and byte checked. The server reads; nothing is touched. */
import { useState, type ReactNode } from 'react';
import type { ReplayReport, VerifyReport } from '../../server/reports.ts';
import { countOf, formatCount } from '../../view/format.ts';
import { door } from '../data/door.ts';
import { Dialog } from '../parts/dialog.tsx';
import { HashChip } from '../parts/hash-chip.tsx';
import { ProblemLine } from '../parts/states.tsx';
import { Pill } from '../parts/status-pill.tsx';
import { Revealed } from '../parts/text.tsx';

type Run<T> = { readonly kind: 'none' | 'running' } | { readonly kind: 'done'; readonly report: T };

export const Proofs = ({
  session,
  close,
}: {
  readonly session: string;
  readonly close: () => void;
}): ReactNode => (
  <Dialog title="Prove this record" close={close}>
    <div className="inside proofs">
      <Replayed session={session} />
      <Verified session={session} />
      <p className="ends">
        <button className="button" type="button" onClick={close}>
          Close
        </button>
      </p>
    </div>
  </Dialog>
);

const useRun = <T,>(start: () => Promise<T>) => {
  const [run, setRun] = useState<Run<T>>({ kind: 'none' });
  const [problem, setProblem] = useState<unknown>();
  const go = (): void => {
    if (run.kind === 'running') return;
    setRun({ kind: 'running' });
    setProblem(undefined);
    start().then(
      (report) => setRun({ kind: 'done', report }),
      (error: unknown) => {
        setRun({ kind: 'none' });
        setProblem(error);
      },
    );
  };
  return { run, problem, go };
};

const Replayed = ({ session }: { readonly session: string }): ReactNode => {
  const { run, problem, go } = useRun<ReplayReport>(() => door.replay(session));
  return (
    <section aria-labelledby="replay">
      <h3 id="replay">Replay</h3>
      <p className="support">
        Makes every decision again from the recorded facts and compares it byte for byte.
      </p>
      <Button run={run} label="Replay all events" go={go} />
      <ProblemLine problem={problem} />
      <div role="status">
        {run.kind === 'done' && (
          <>
            {run.report.identical ? (
              <Pill kind="done" icon="done" word="identical" />
            ) : (
              <Pill kind="fail" icon="fail" word="differs" />
            )}{' '}
            {countOf(run.report.events, 'event')}, {countOf(run.report.decisions, 'decision')},{' '}
            {countOf(run.report.requests, 'request')}
            {run.report.requestsUnknown > 0 &&
              `; ${formatCount(run.report.requestsUnknown)} of a provider that this server does not know, not compared`}
            .
            {run.report.difference && (
              <pre className="well-text">
                <Revealed text={JSON.stringify(run.report.difference, null, 2)} newlines indent />
              </pre>
            )}
          </>
        )}
      </div>
    </section>
  );
};

const Verified = ({ session }: { readonly session: string }): ReactNode => {
  const { run, problem, go } = useRun<VerifyReport>(() => door.verify(session));
  return (
    <section aria-labelledby="verify">
      <h3 id="verify">Verify</h3>
      <p className="support">
        Checks the hash chain, the bytes of every blob and request, and every decision.
      </p>
      <Button run={run} label="Verify the record" go={go} />
      <ProblemLine problem={problem} />
      <div role="status">
        {run.kind === 'done' && (
          <>
            {run.report.proved ? (
              <Pill kind="done" icon="done" word="proves itself" />
            ) : (
              <Pill kind="fail" icon="fail" word={countOf(run.report.findings.length, 'finding')} />
            )}{' '}
            {countOf(run.report.events, 'event')}, {countOf(run.report.blobs, 'blob')},{' '}
            {countOf(run.report.requests, 'request')}. Head <HashChip value={run.report.head} what="digest" />
            <ul>
              {run.report.findings.map(({ seq, message }) => (
                <li key={`${seq} ${message}`}>
                  {seq}: <Revealed text={message} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    </section>
  );
};

const Button = ({
  run,
  label,
  go,
}: {
  readonly run: Run<unknown>;
  readonly label: string;
  readonly go: () => void;
}): ReactNode => (
  <p>
    <button className="button" type="button" aria-disabled={run.kind === 'running'} onClick={go}>
      {run.kind === 'running' ? 'Reading the whole log…' : label}
    </button>
  </p>
);
