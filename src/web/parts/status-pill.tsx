/** What state something is in: icon, word, colour, in this order of importance. A ground means "look here". */
import type { ReactNode } from 'react';
import type { SessionStatus } from '../../event/summary.ts';
import { Icon, type IconName } from './icon.tsx';

export type StatusKind = 'run' | 'wait' | 'doubt' | 'done' | 'fail' | 'stop';

type Look = { readonly kind: StatusKind; readonly icon: IconName; readonly word: string };

export const STATUS_LOOKS: Readonly<Record<SessionStatus, Look>> = {
  'in-doubt': { kind: 'doubt', icon: 'doubt', word: 'in doubt' },
  waiting: { kind: 'wait', icon: 'wait', word: 'waiting for a person' },
  failed: { kind: 'fail', icon: 'fail', word: 'failed' },
  running: { kind: 'run', icon: 'run', word: 'running' },
  idle: { kind: 'stop', icon: 'idle', word: 'idle' },
  cancelled: { kind: 'stop', icon: 'stop', word: 'cancelled' },
  done: { kind: 'done', icon: 'done', word: 'done' },
};

/** What long lists say without a ground: twenty green pills are noise. */
const QUIET: ReadonlySet<SessionStatus> = new Set(['done', 'cancelled', 'idle']);

export const StatusPill = ({
  status,
  inList = false,
}: {
  readonly status: SessionStatus;
  readonly inList?: boolean;
}): ReactNode => {
  const { kind, icon, word } = STATUS_LOOKS[status];
  return <Pill kind={kind} icon={icon} word={word} bare={inList && QUIET.has(status)} />;
};

export const Pill = ({ kind, icon, word, bare = false }: Look & { readonly bare?: boolean }): ReactNode => (
  <span className={`pill ${kind}${bare ? ' bare' : ''}`}>
    <Icon name={icon} />
    {word}
  </span>
);
