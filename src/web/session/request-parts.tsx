/** The parts of a request: what each weighs, which are those of the request before, what was left out and why. */
import type { CSSProperties, ReactNode } from 'react';
import type { RequestPartsView } from '../../server/window-shapes.ts';
import {
  countOf,
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatShare,
} from '../../view/format.ts';
import type { PartRun } from '../../view/part-runs.ts';
import { Icon } from '../parts/icon.tsx';
import { Seq } from '../parts/seq.tsx';
import { Revealed } from '../parts/text.tsx';
import { TokenKeys } from '../parts/token-keys.tsx';

type Props = { readonly view: RequestPartsView; readonly selected: number | undefined };

/** Rows drawn at once; the rest on demand. */
const ROWS_MAX = 400;

export const Parts = ({ view, selected }: Props): ReactNode => {
  const { parts, refused } = view;
  const sent = parts.filter(({ state }) => state === 'kept' || state === 'shortened');
  const out = parts.filter(({ state }) => state === 'left-out' || state === 'summarised');
  const cut = sent.findIndex(({ same }) => !same);
  const longest = Math.max(1, ...sent.map(({ tokens }) => tokens ?? 0));
  const sharedTokens = sent.reduce((sum, { same, tokens }) => sum + (same ? (tokens ?? 0) : 0), 0);
  return (
    <>
      {refused !== null && (
        <p className="banner fail">
          <Icon name="fail" small />
          It would not be sent: <Revealed text={refused} />
        </p>
      )}
      {refused === null && <Figures view={view} />}
      {sent.length > 0 && <Strip sent={sent} cut={cut} view={view} />}
      <ol className="parts" aria-label="Parts that were sent">
        {sent.slice(0, ROWS_MAX).map((part, at) => (
          <PartLine key={keyOf(part, at)} part={part} longest={longest} selected={selected}>
            {at === cut && at > 0 && <CutLine part={part} tokens={sharedTokens} request={view.request} />}
          </PartLine>
        ))}
      </ol>
      {sent.length > ROWS_MAX && (
        <p className="caption foot">
          {countOf(sent.length - ROWS_MAX, 'further part')} not drawn here; all of them are in the raw bytes.
        </p>
      )}
      {out.length > 0 && (
        <>
          <p className="cut-line">
            <Icon name="cut" small />
            <span>
              <b>
                Left out:{' '}
                {countOf(
                  out.reduce((sum, { count }) => sum + count, 0),
                  'part',
                )}
                .
              </b>{' '}
              The model did not see these.
            </span>
            <span className="push">
              {out.some(({ tokens }) => tokens === null) ? 'not counted' : formatCount(sum(out))}
            </span>
          </p>
          <ol className="parts" aria-label="Parts that were left out">
            {out.slice(0, ROWS_MAX).map((part, at) => (
              <PartLine key={keyOf(part, at)} part={part} longest={longest} selected={selected} />
            ))}
          </ol>
        </>
      )}
      <p className="caption foot" hidden={refused !== null}>
        {countsWords(view)} Tokens of single parts are estimates, fitted to the provider’s total.
      </p>
    </>
  );
};

const keyOf = ({ kind, from, label }: PartRun, at: number): string => `${kind} ${from ?? ''} ${label} ${at}`;

const countsWords = ({ counts }: RequestPartsView): string =>
  counts === null
    ? ''
    : `Every part of the conversation is in this list: ${Object.entries(counts)
        .map(([state, count]) => `${state.replace('-', ' ')} ${formatCount(count)}`)
        .join(', ')}.`;

const Figures = ({
  view: { bytes, sharedBytes, answer, parts },
}: {
  readonly view: RequestPartsView;
}): ReactNode => {
  const usage = answer?.usage;
  const estimate = parts.reduce(
    (sum, { state, tokens }) => sum + (state === 'kept' || state === 'shortened' ? (tokens ?? 0) : 0),
    0,
  );
  return (
    <div className="figures-block">
      <dl className="figures">
        <div>
          <dt>{usage ? 'Sent' : 'Sent, about'}</dt>
          <dd>
            {formatCount(usage ? usage.cacheRead + usage.cacheWrite + usage.input : estimate)}{' '}
            <small>tokens</small>
          </dd>
        </div>
        <div>
          <dt>Shared prefix</dt>
          <dd>{sharedBytes === null || bytes === null ? 'none' : formatShare(sharedBytes / bytes, 1)}</dd>
        </div>
        <div>
          <dt>Cost</dt>
          <dd>{answer ? formatCost(answer.cost ?? undefined) : 'not sent'}</dd>
        </div>
        {answer && (
          <div>
            <dt>First token</dt>
            <dd>
              {answer.firstTokenMs === null ? 'unknown' : formatDuration(answer.firstTokenMs)}{' '}
              <small>of {formatDuration(answer.ms)}</small>
            </dd>
          </div>
        )}
        <div>
          <dt>Size</dt>
          <dd>{bytes === null ? 'unknown' : formatBytes(bytes)}</dd>
        </div>
      </dl>
    </div>
  );
};

const sum = (parts: readonly PartRun[]): number => parts.reduce((all, { tokens }) => all + (tokens ?? 0), 0);

type StripProps = {
  readonly sent: readonly PartRun[];
  readonly cut: number;
  readonly view: RequestPartsView;
};

const Strip = ({ sent, cut, view: { request, answer } }: StripProps): ReactNode => {
  const [same, fresh] = cut < 0 ? [sent, []] : [sent.slice(0, cut), sent.slice(cut)];
  const before = request === null ? 'the last request' : `request ${request - 1}`;
  const words = `${countOf(sent.length, 'part')} in order. The first ${same.length}, ${formatCount(sum(same))} tokens, are the same as in ${before}. The other ${fresh.length}, ${formatCount(sum(fresh))} tokens, are new.`;
  return (
    <div className="strip-block">
      <div className="strip" role="img" aria-label={words}>
        {same.map((part, at) => (
          <i key={keyOf(part, at)} style={grow(part)} />
        ))}
        {same.length > 0 && fresh.length > 0 && <i className="cut" />}
        {fresh.map((part, at) => (
          <i key={keyOf(part, at)} className="new" style={grow(part)} />
        ))}
      </div>
      <div className="strip-words">
        <span>
          same bytes as {before}: {formatCount(sum(same))}
        </span>
        <span>new: {formatCount(sum(fresh))}</span>
      </div>
      {answer?.usage && <TokenKeys usage={answer.usage} />}
    </div>
  );
};

const grow = ({ tokens }: PartRun): CSSProperties => ({ flexGrow: Math.max(1, tokens ?? 0) });

const CutLine = ({
  part,
  tokens,
  request,
}: {
  readonly part: PartRun;
  readonly tokens: number;
  readonly request: number | null;
}): ReactNode => (
  <div className="cut-line">
    <Icon name="cut" small />
    <span>
      <b>Shared with {request === null ? 'the last request' : `request ${request - 1}`} up to here.</b> First
      difference:{' '}
      {part.from === undefined ? <Revealed text={part.label} /> : `the part of event ${part.from}`}.
    </span>
    <span className="push">{formatCount(tokens)}</span>
  </div>
);

const ROLES: Readonly<Partial<Record<PartRun['kind'], string>>> = {
  frame: 'frame',
  instructions: 'system',
  tool: 'tool',
  question: 'asks',
  run: 'turns',
};

type LineProps = {
  readonly part: PartRun;
  readonly longest: number;
  readonly selected: number | undefined;
  readonly children?: ReactNode;
};

const PartLine = ({ part, longest, selected, children }: LineProps): ReactNode => {
  const { kind, label, reason, from, to, tokens, state, same, count } = part;
  const isOut = state === 'left-out' || state === 'summarised';
  const isChosen =
    selected !== undefined && from !== undefined && from <= selected && selected <= (to ?? from);
  const width = { width: `${Math.min(100, ((tokens ?? 0) / longest) * 100)}%` };
  return (
    <li>
      {children}
      <div className={`part ${state}${same ? '' : ' new'}${isChosen ? ' chosen' : ''}`}>
        {count > 1 && from !== undefined ? (
          <span className="seq">{`${from}–${to}`}</span>
        ) : (
          <Seq seq={from} />
        )}
        <span className="role">{ROLES[kind] ?? kind}</span>
        <span className="name clip" title={label}>
          <Revealed text={label} />
        </span>
        <span className="weight" aria-hidden="true">
          <i style={width} />
        </span>
        <span className="number">
          {tokens === null ? 'not counted' : isOut ? `(${formatCount(tokens)})` : formatCount(tokens)}
        </span>
        {reason !== '' && (
          <span className="why">
            {state.replace('-', ' ')}: <Revealed text={reason} />
          </span>
        )}
      </div>
    </li>
  );
};
