/** What caches could be reused for, session by session, and why a prefix broke. */
import type { ReactNode } from 'react';
import type { BreakView, ReuseView, SessionReuse } from '../../server/spend-shapes.ts';
import { countOf, formatCost, formatCount, formatShare } from '../../view/format.ts';
import { Link } from '../parts/link.tsx';
import { Revealed } from '../parts/text.tsx';

type Row = { readonly of: SessionReuse; readonly broke: BreakView };

const BREAKS_SHOWN = 30;

export const Breaks = ({ reuse }: { readonly reuse: ReuseView }): ReactNode => {
  const rows = reuse.sessions
    .flatMap((of) => of.breaks.map((broke): Row => ({ of, broke })))
    .toSorted((one, other) => (other.broke.lostTokens ?? 0) - (one.broke.lostTokens ?? 0));
  if (rows.length === 0)
    return (
      <p className="sheet plain-note">
        No prefix broke: each request began with the one before it
        {reuse.sessions.length === 0
          ? ', if there was any'
          : `, in ${countOf(reuse.sessions.length, 'session')}`}
        .
      </p>
    );
  return (
    <div className="sheet">
      <table className="stacked breaks">
        <thead>
          <tr>
            <th scope="col">Cause</th>
            <th scope="col">Session</th>
            <th scope="col" className="number">
              Breaks
            </th>
            <th scope="col" className="number">
              Tokens sent again
            </th>
            <th scope="col" className="number">
              Cost of it
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, BREAKS_SHOWN).map(({ of, broke }) => (
            <tr key={`${of.session} ${broke.cause}`}>
              <td className="what">
                <Link to={`/s/${encodeURIComponent(of.session)}?req=${broke.request}&view=req&tab=diff`}>
                  <Revealed text={broke.cause} />
                </Link>
                {broke.quotes.map(({ before, after }) => (
                  <span className="caption quote-line" key={`${before} ${after}`}>
                    “<Revealed text={before} />” became “<Revealed text={after} />”
                  </span>
                ))}
              </td>
              <td>
                <Revealed text={of.title} />
                <span className="caption under">{of.agent}</span>
              </td>
              <td className="number" data-label="breaks">
                {formatCount(broke.count)}
              </td>
              <td className="number" data-label="tokens again">
                {broke.lostTokens === null ? (
                  <span className="dim">unknown</span>
                ) : (
                  `about ${formatCount(broke.lostTokens)}`
                )}
              </td>
              <td className="number" data-label="cost">
                {broke.lostUsd === null ? (
                  <span className="dim">unknown</span>
                ) : (
                  `about ${formatCost(broke.lostUsd)}`
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > BREAKS_SHOWN && (
        <p className="plain-note">{formatCount(rows.length - BREAKS_SHOWN)} more cost less.</p>
      )}
    </div>
  );
};

export const SessionsReuse = ({ reuse }: { readonly reuse: ReuseView }): ReactNode => (
  <div className="sheet">
    <table className="stacked">
      <thead>
        <tr>
          <th scope="col">Session</th>
          <th scope="col" className="number">
            Requests
          </th>
          <th scope="col" className="number">
            Tokens in
          </th>
          <th scope="col" className="number">
            From the cache
          </th>
          <th scope="col" className="number">
            Breaks
          </th>
        </tr>
      </thead>
      <tbody>
        {reuse.sessions.map((one) => (
          <tr key={one.session}>
            <td className="what">
              <Link to={`/s/${encodeURIComponent(one.session)}`}>
                <Revealed text={one.title} />
              </Link>
              <span className="caption under">{one.agent}</span>
            </td>
            <td className="number" data-label="requests">
              {formatCount(one.requests)}
            </td>
            <td className="number" data-label="tokens in">
              {one.tokens === null ? <span className="dim">not reported</span> : formatCount(one.tokens)}
            </td>
            <td className="number" data-label="from the cache">
              {one.tokens === null || one.tokens === 0 ? (
                <span className="dim">not reported</span>
              ) : (
                formatShare(one.cacheRead / one.tokens)
              )}
            </td>
            <td className="number" data-label="breaks">
              {formatCount(one.breaks.reduce((sum, { count }) => sum + count, 0))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    {reuse.more && (
      <p className="plain-note">
        These are the last changed ones; the requests of older ones are not compared here.
      </p>
    )}
  </div>
);
