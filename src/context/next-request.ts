/** What a `build` of next() comes to: the request, or why none is sent. The same for the driver and for replay. */
import type { EventData } from '../event/events.ts';
import { spentRefusal } from '../session/budget.ts';
import type { Work } from '../session/next.ts';
import type { SessionState } from '../session/state.ts';
import type { BuiltRequest, RequestBuilder } from './request-builder.ts';

export type NextRequest =
  | ({ readonly type: 'request.built' } & BuiltRequest)
  | { readonly type: 'request.refused'; readonly data: EventData['request.refused'] };

export const nextRequest = (
  builder: RequestBuilder,
  state: SessionState,
  work: Extract<Work, { kind: 'build' }>,
): NextRequest => {
  const refusal = spentRefusal(state) ?? builder.select(state);
  if (!refusal) {
    const { data, head, tail, parts } = builder.build(state, work);
    return { type: 'request.built', data, head, tail, parts };
  }
  const { outcome, code, message } = refusal;
  return { type: 'request.refused', data: { turn: work.turn, step: work.step, outcome, code, message } };
};
