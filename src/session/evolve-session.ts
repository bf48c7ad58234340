/** What an event that is about no turn means: the session itself, its agent, its mode. */
import type { LogEvent } from '../event/events.ts';
import type { SessionState } from './state.ts';

export type SessionEvent = Extract<
  LogEvent,
  {
    type:
      | 'session.created'
      | 'agent.updated'
      | 'mode.changed'
      | 'token.added'
      | 'token.revoked'
      | 'session.parked'
      | 'session.unparked'
      | 'time.reached';
  }
>;

export const evolveSession = (state: SessionState, event: SessionEvent): SessionState => {
  switch (event.type) {
    case 'session.created':
      return {
        ...state,
        origin: event.data.session ?? state.origin,
        agent: event.data.agent,
        rehearsal: event.data.rehearsal !== undefined,
        title: event.data.title ?? '',
        tenant: event.data.tenant ?? '',
        createdAt: event.at,
        mode: { ...state.mode, session: event.data.mode ?? 'normal' },
      };
    case 'agent.updated':
      return { ...state, agent: event.data.agent };
    case 'mode.changed':
      return { ...state, mode: { ...state.mode, [event.data.scope]: event.data.mode } };
    case 'session.parked':
      return { ...state, parked: { ...event.data, at: event.at } };
    case 'session.unparked': {
      const { active } = state;
      return { ...state, parked: undefined, active: active && { ...active, losses: 0 } };
    }
    case 'token.added':
    case 'token.revoked':
    case 'time.reached':
      // The moment itself is the news: it stands in the event's `at`.
      return state;
    default:
      return event satisfies never;
  }
};
