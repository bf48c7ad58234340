/** What a tool does to the world, and so what may be done with a call whose result was never recorded. */
export type EffectKind = 'none' | 'idempotent' | 'reconcilable' | 'once';

export const EFFECT_KINDS: readonly EffectKind[] = ['none', 'idempotent', 'reconcilable', 'once'];
