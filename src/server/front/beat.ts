/**
 * What a front end is told of a run, in no protocol's words. A run is the part of a turn that one request is answered
 * with: from its message, or from the answers it brings, until the turn ends or needs a person.
 */
import type { Digest } from '../../event/canonical.ts';
import type { CallId } from '../../event/call-id.ts';
import type { StopReason, Usage } from '../../event/content.ts';
import type { ApprovalDecision, Settlement, TurnOutcome } from '../../event/events.ts';
import type { CallState } from '../../session/state.ts';

/** A stretch of text or of reasoning in one response. The id is the same however often it is read from the log. */
export type Part = { readonly id: string; readonly kind: 'text' | 'reasoning' };

/** What a person is asked. The id names the call and exactly what was shown. */
export type Question = { readonly id: string; readonly call: CallState; readonly digest: Digest };

/** A call that was started and whose end nobody knows. */
export type DoubtfulCall = { readonly id: string; readonly call: CallState };

export type Needs = { readonly questions: readonly Question[]; readonly doubts: readonly DoubtfulCall[] };

export type Beat =
  /** What the run is: the session and turn, and the event it begins with. */
  | {
      readonly kind: 'begin';
      readonly session: string;
      readonly turn: number;
      readonly seq: number;
      readonly at: number;
      readonly steered: boolean;
    }
  | { readonly kind: 'step' | 'step-end'; readonly step: number }
  | { readonly kind: 'open' | 'close'; readonly part: Part }
  | { readonly kind: 'words'; readonly part: Part; readonly text: string }
  /** What was said in this step so far does not count: the attempt failed, or a reader was too slow for it. */
  | { readonly kind: 'retake'; readonly parts: readonly Part[] }
  /** `text` is the id of the response's first text, if it has one. */
  | { readonly kind: 'call'; readonly call: CallState; readonly text: string | undefined }
  | { readonly kind: 'question'; readonly question: Question }
  | {
      readonly kind: 'decision';
      readonly id: string;
      readonly call: CallState;
      readonly approved: boolean;
      readonly reason: string | undefined;
    }
  | { readonly kind: 'doubt'; readonly doubt: DoubtfulCall }
  /** How a call was closed, in the words that the model is told. */
  | { readonly kind: 'result'; readonly call: CallState; readonly text: string; readonly isError: boolean }
  /** Nothing goes on until a person answers. Last of its run. */
  | { readonly kind: 'rest'; readonly needs: Needs; readonly usage: Usage; readonly at: number }
  /** Last of its run. */
  | {
      readonly kind: 'end';
      readonly outcome: TurnOutcome | 'withdrawn';
      readonly reason: string | undefined;
      readonly message: string | undefined;
      /** Of the last response. */
      readonly stop: StopReason | undefined;
      readonly usage: Usage;
      readonly at: number;
    }
  /** Nothing happened for a while. */
  | { readonly kind: 'alive' }
  /** The server stops; the run goes on, here or elsewhere. */
  | { readonly kind: 'cut' };

export type LastBeat = Extract<Beat, { kind: 'rest' | 'end' }>;

/** A person's answer, as a front end sends it: to a question, or to a doubt. */
export type Answer =
  | {
      readonly kind: 'decision';
      readonly id: string;
      readonly call: CallId;
      readonly digest: Digest;
      readonly decision: ApprovalDecision;
    }
  | {
      readonly kind: 'settlement';
      readonly id: string;
      readonly call: CallId;
      readonly settlement: Settlement;
    };
