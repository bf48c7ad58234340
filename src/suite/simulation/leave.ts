/**
 * By what leave each call was started: an own, plain reading of policies, questions and answers in a log. It shares
 * no code with the decider that it checks, and knows only what the simulated tools and rules can say.
 */
import type { Actor } from '../../event/content.ts';
import type { AgentDefinition, AskTerms, Condition, Mode, PolicyRule } from '../../event/definition.ts';
import type { EventData, Grant, LogEvent } from '../../event/events.ts';

export type Say = (invariant: string, what: string) => void;

/** The mode that the store's gate had when the event with this seq was written. */
export type Gates = ReadonlyMap<number, Mode>;

type Args = { readonly n: number; readonly to?: string };

type Question = {
  readonly rule: string;
  readonly digest: string;
  readonly at: number;
  readonly terms: AskTerms;
  escalated: boolean;
};

type Known = {
  readonly tool: string;
  args: string;
  rule: string;
  question?: Question;
  /** May be started: by a rule, a grant, or a person; until when. */
  leave?: Leave;
  /** What the preview that stands is bound to, and when it was last made. */
  base?: string | undefined;
  basedAt?: number;
  /** The base that the yes was to. */
  agreed?: string | undefined;
  editedBy?: Question;
  settled?: boolean;
};

type Leave = {
  readonly by: 'rule' | 'grant' | 'yes' | 'edit';
  readonly until: number;
  /** Something was started by it: what was started in time may be tried again later. */
  readonly used: boolean;
};

const leaveBy = (by: Leave['by'], until: number = Infinity): Leave => ({ by, until, used: false });

type Given = {
  readonly call: string;
  readonly tool: string;
  readonly definition: string;
  readonly rule: string;
  readonly grant: Grant;
  readonly at: number;
  readonly by: Actor;
};

const forbids = (mode: Mode, effect: string): boolean =>
  mode === 'frozen' || (mode !== 'normal' && effect !== 'none');

export class LeaveReader {
  readonly #say: Say;
  readonly #gates: Gates;
  #agent: AgentDefinition | undefined;
  #mode: Mode = 'normal';
  readonly #calls = new Map<string, Known>();
  readonly #askers = new Map<number, Actor>();
  readonly #cancelled = new Set<number>();
  readonly #doubted = new Set<string>();
  readonly #digests = new Set<string>();
  #grants: Given[] = [];
  /** Labels of what has come in so far: surely, and perhaps. */
  readonly #turnLabels: [turn: number, label: string][] = [];
  readonly #bases = new Map<string, readonly string[]>();
  readonly #said = new Set<string>();
  readonly #maybe = new Set<string>();
  #request: Labels = { sure: [], maybe: [] };
  /** What the maker of a call had heard from its calls before. */
  readonly #heard = new Map<string, Labels>();
  /** The raw arguments of the response in hand, by call. */
  readonly #raw = new Map<string, string>();
  /** How many calls a call has made, and labels of what they said to it: surely, and perhaps. */
  readonly #makers = new Map<string, Maker>();

  constructor(gates: Gates, say: Say) {
    this.#gates = gates;
    this.#say = say;
  }

  /** What previews were bound to when an attempt was started. */
  bases(attempt: string): readonly string[] {
    return this.#bases.get(attempt) ?? [];
  }

  /** Questions that stand, as they would be counted by hand. */
  get open(): readonly string[] {
    return [...this.#calls].flatMap(([id, { question }]) => (question ? [id] : []));
  }

  read(event: LogEvent): void {
    const { type, data } = event;
    switch (type) {
      case 'session.created':
        this.#mode = data.mode ?? 'normal';
        this.#agent = data.agent;
        break;
      case 'agent.updated':
        this.#agent = data.agent;
        break;
      case 'mode.changed':
        if (data.scope === 'session') this.#mode = data.mode;
        break;
      case 'turn.accepted':
        this.#askers.set(data.turn, data.by);
        for (const label of data.labels ?? []) this.#turnLabels.push([data.turn, label]);
        break;
      case 'turn.cancel_requested':
        this.#cancelled.add(data.turn);
        break;
      case 'grant.revoked':
        this.#revoked(data.grant);
        break;
      case 'request.sent':
        this.#begun(event, 'request', 'none');
        break;
      case 'request.built':
        this.#begun(event, 'request', 'none');
        this.#built(data);
        break;
      case 'response.received':
        this.#answered(data);
        break;
      case 'turn.ended':
        for (const [id, known] of this.#calls) if (turnOf(id) === data.turn) close(known);
        break;
      default:
        this.#readCall(event);
    }
  }

  #readCall(event: LogEvent): void {
    const { type, data, at } = event;
    if (type === 'call.proposed') return this.#proposed(event);
    if (!('call' in data)) return;
    const known = this.#calls.get(data.call);
    if (known) this.#hear(type, known.tool, data.call);
    if (!known) return;
    switch (type) {
      case 'approval.requested':
        return this.#asked(known, data, at);
      case 'approval.decided':
        return this.#decided(known, data, at);
      case 'approval.escalated':
        return this.#escalated(known, data, at);
      case 'approval.expired':
        this.#lapsed(known, data.call, at);
        this.#grants = this.#grants.filter(({ call }) => call !== data.call);
        return close(known);
      case 'approval.invalidated':
        this.#grants = this.#grants.filter(({ call }) => call !== data.call);
        return close(known);
      case 'call.prepared':
        known.base = data.base === undefined ? undefined : JSON.stringify(data.base);
        known.basedAt = at;
        return;
      case 'call.started':
        return this.#started(known, event);
      case 'call.suspended':
        return this.#suspended(data);
      case 'call.doubted':
        this.#doubted.add(`${known.tool} ${known.args}`);
        return close(known);
      case 'call.settled':
        known.settled = data.settlement.answer === 'not-happened';
        return close(known);
      case 'call.result':
      case 'call.late':
        // What failed for certain may be tried again under the same leave.
        if (data.outcome.kind === 'ok') close(known);
        return;
      case 'call.refused':
      case 'call.rejected':
      case 'call.withheld':
      case 'call.failed':
      case 'call.cancelled':
        return close(known);
      default:
    }
  }

  /** What a tool says labels whatever is asked of the model afterwards. */
  #hear(type: LogEvent['type'], tool: string, call: string): void {
    const says = ['call.result', 'call.reconciled', 'call.refused', 'call.withheld'].includes(type);
    if (!says && type !== 'call.late') return;
    const { labels } = this.#tool(tool);
    for (const label of ['untrusted', 'private'] as const)
      if (labels[label]) {
        (says ? this.#said : this.#maybe).add(label);
        const maker = this.#makers.get(makerOf(call) ?? '');
        (says ? maker?.said : maker?.maybe)?.add(label);
      }
  }

  /** The calls that a call makes are written where it is suspended, and counted over all of them. */
  #suspended({ call, calls }: EventData['call.suspended']): void {
    const maker = this.#makers.get(call) ?? { made: 0, said: new Set(), maybe: new Set() };
    this.#makers.set(call, maker);
    // What it had heard when it asked for them, whatever it hears while they wait.
    const heard = { sure: [...maker.said], maybe: [...maker.maybe] };
    for (const { args } of calls) {
      const id = `${call}.${++maker.made}`;
      this.#raw.set(id, args);
      this.#heard.set(id, heard);
    }
  }

  #built({ turn }: EventData['request.built']): void {
    const input = this.#turnLabels.flatMap(([of, label]) => (of <= turn ? [label] : []));
    const sure = [...this.#said, ...input];
    this.#request = { sure, maybe: [...sure, ...this.#maybe] };
  }

  #answered({ turn, step, content }: EventData['response.received']): void {
    const calls = content.filter((block) => block.type === 'call');
    for (const [i, { args }] of calls.entries()) this.#raw.set(`${turn}.${step}.${i + 1}`, args);
  }

  #tool(name: string): AgentDefinition['tools'][number] {
    const found = this.#agent?.tools.find((tool) => tool.name === name);
    if (!found) throw new Error(`the simulated agent has no tool ${name}`);
    return found;
  }

  #proposed(event: Extract<LogEvent, { type: 'call.proposed' }>): void {
    const { call, tool, do: doing, rule, seen = [] } = event.data;
    const args = event.data.args ?? sorted(this.#raw.get(call) ?? '');
    const known: Known = this.#calls.get(call) ?? { tool, args, rule };
    this.#checkSeen(call, seen);
    const verdict = this.#judge(tool, args, seen);
    const leave = this.#leaveOf(known, { call, args, rule, at: event.at, verdict });
    if (verdict.do === 'deny')
      this.#say('4 only what was allowed', `${call} was proposed, ${verdict.rule} denies it`);
    if (doing === 'run' && !leave)
      this.#say(
        '4 only what was allowed',
        `${call} was to run by ${rule}, my reading says ${verdict.do} by ${verdict.rule}`,
      );
    if (doing === 'ask' && leave?.by === 'rule')
      this.#say(
        '4 as the policy says',
        `${call} was asked about by ${rule}, my reading says that it may run`,
      );
    const { question: _q, leave: _l, base: _b, basedAt: _a, editedBy: _e, settled: _s, ...rest } = known;
    this.#calls.set(call, { ...rest, args, rule, ...(doing === 'run' && leave && { leave }) });
  }

  #checkSeen(call: string, seen: readonly string[]): void {
    const heard = this.#heard.get(call) ?? { sure: [], maybe: [] };
    const sure = [...this.#request.sure, ...heard.sure];
    const maybe = [...this.#request.maybe, ...sure, ...heard.maybe];
    const missing = sure.filter((label) => !seen.includes(label));
    const invented = seen.filter((label) => !maybe.includes(label));
    if (missing.length > 0)
      this.#say('provenance', `${call} does not say that ${missing.join()} text stood in its request`);
    if (invented.length > 0)
      this.#say('provenance', `${call} says that ${invented.join()} text stood in its request`);
  }

  #leaveOf(
    known: Known,
    about: { call: string; args: string; rule: string; at: number; verdict: Verdict },
  ): Known['leave'] {
    const { args, verdict, at, call } = about;
    const twin = this.#tool(known.tool).effect !== 'none' && this.#doubted.has(`${known.tool} ${args}`);
    // An edit into what a rule allows is still an answer to the question that was asked.
    const until = known.editedBy ? deadline(known.editedBy) : Infinity;
    if (verdict.do === 'run') {
      // Whoever said that it did not happen has looked at this very call.
      if (!twin || known.settled === true) return leaveBy('rule', until);
      return known.editedBy?.rule === TWIN ? leaveBy('edit', until) : undefined;
    }
    if (verdict.do === 'deny') return undefined;
    if (known.editedBy?.rule === verdict.rule) return leaveBy('edit', until);
    const asker = this.#askers.get(turnOf(call));
    const given = this.#grants.find(
      (one) =>
        !twin &&
        about.rule === `grant:${one.call}` &&
        one.tool === known.tool &&
        one.definition === this.#tool(known.tool).digest &&
        one.rule === verdict.rule &&
        at < one.at + one.grant.forMs &&
        one.grant.when.every((condition) => holds(condition, args)) &&
        mayRun(this.#terms(verdict.rule), one.by, asker, true),
    );
    return given && leaveBy('grant', Math.min(until, given.at + given.grant.forMs));
  }

  #judge(name: string, args: string, seen: readonly string[]): Verdict {
    const tool = this.#tool(name);
    const fits = (rule: PolicyRule): boolean =>
      (!rule.tools || rule.tools.includes(name)) &&
      (!rule.effects || rule.effects.includes(tool.effect)) &&
      (rule.egress === undefined || rule.egress === tool.egress) &&
      (!rule.seen || rule.seen.every((label) => seen.includes(label))) &&
      (!rule.when || rule.when.every((condition) => holds(condition, args)));
    const rule = this.#agent?.policy.rules.find(fits);
    if (rule?.do === 'deny') return { do: 'deny', rule: rule.id };
    if (rule?.do === 'ask') return { do: 'ask', rule: rule.id };
    if (tool.approval === 'always') return { do: 'ask', rule: 'tool:always-asks' };
    if (rule) return { do: 'run', rule: rule.id };
    if (tool.approval === 'never' || tool.effect === 'none') return { do: 'run', rule: 'built-in' };
    return { do: 'ask', rule: 'default:effect-asks' };
  }

  #terms(rule: string): AskTerms {
    const { ask, rules = [] } = this.#agent?.policy ?? {};
    return { ...ask, ...rules.find(({ id }) => id === rule)?.ask };
  }

  #asked(known: Known, data: EventData['approval.requested'], at: number): void {
    const terms = this.#terms(known.rule);
    const { by, fourEyes = false, expiresAt, escalates, digest } = data;
    const said = JSON.stringify([by, fourEyes, expiresAt, escalates]);
    const mine = JSON.stringify([
      terms.by,
      terms.fourEyes ?? false,
      terms.expiresMs === undefined ? undefined : at + terms.expiresMs,
      terms.escalate && { at: at + terms.escalate.afterMs, to: terms.escalate.to },
    ]);
    if (said !== mine)
      this.#say('terms as the policy says', `${data.call}: ${said}, my reading says ${mine}`);
    if (this.#digests.has(digest))
      this.#say('one question, one digest', `${data.call} is asked under an old digest`);
    this.#digests.add(digest);
    known.question = { rule: known.rule, digest, at, terms, escalated: false };
    delete known.leave;
  }

  #decided(known: Known, data: EventData['approval.decided'], at: number): void {
    const { question } = known;
    const { call, by, decision, digest } = data;
    const no = (what: string): void => this.#say('25 a decision within its terms', `${call}: ${what}`);
    if (!question || question.digest !== digest)
      return no(`${by.name} decided about a question that does not stand`);
    const asker = this.#askers.get(turnOf(call));
    const { terms, escalated } = question;
    const runs = decision.do === 'approve' || decision.do === 'edit';
    if (!mayRun({ ...terms, fourEyes: runs && terms.fourEyes === true }, by, asker, escalated))
      no(`${by.name} may not ${decision.do}`);
    if (at >= deadline(question)) no(`decided at ${at}, the deadline was ${deadline(question)}`);
    delete known.question;
    if (decision.do === 'edit') known.editedBy = question;
    if (decision.do !== 'approve') return;
    known.leave = leaveBy('yes', deadline(question));
    known.agreed = known.base;
    if (decision.grant)
      this.#grants.push({
        call,
        tool: known.tool,
        definition: this.#tool(known.tool).digest,
        rule: question.rule,
        grant: decision.grant,
        at,
        by,
      });
  }

  /** What was started by it in time may be tried again. */
  #revoked(grant: string): void {
    this.#grants = this.#grants.filter(({ call }) => call !== grant);
    for (const known of this.#calls.values())
      if (known.leave?.by === 'grant' && !known.leave.used && known.rule === `grant:${grant}`)
        delete known.leave;
  }

  #escalated(known: Known, { call }: EventData['approval.escalated'], at: number): void {
    const { question } = known;
    const due = question?.terms.escalate && question.at + question.terms.escalate.afterMs;
    if (!question || due === undefined || at < due) this.#say('escalation', `${call} was escalated at ${at}`);
    else question.escalated = true;
  }

  #lapsed(known: Known, call: string, at: number): void {
    const until = known.question ? deadline(known.question) : known.leave?.until;
    if (until === undefined || at < until)
      this.#say('27 one end', `${call} lapsed at ${at}, its deadline is ${until}`);
  }

  #started(known: Known, event: Extract<LogEvent, { type: 'call.started' }>): void {
    const { call } = event.data;
    const { leave } = known;
    const no = (what: string): void => this.#say('4 only what was allowed', `${call} was started ${what}`);
    this.#begun(event, call, this.#tool(known.tool).effect);
    this.#bases.set(`${call}#${event.data.attempt}`, [known.base ?? 'null']);
    if (this.#cancelled.has(turnOf(call))) no('after its turn was cancelled');
    if (!leave) return no('without leave');
    if (leave.used) return;
    known.leave = { ...leave, used: true };
    if (event.at >= leave.until) no(`at ${event.at}, its leave ended at ${leave.until}`);
    if (leave.by !== 'yes' || known.agreed === undefined) return;
    if (known.base !== known.agreed) no(`on ${known.base}, the yes was to ${known.agreed}`);
    if (known.basedAt !== event.at) no(`on a look at ${known.basedAt}, at ${event.at}`);
  }

  /** Nothing begins against a gate that was closed when its intent was written. */
  #begun({ seq }: LogEvent, what: string, effect: string): void {
    for (const mode of [this.#mode, this.#gates.get(seq) ?? 'normal'])
      if (forbids(mode, effect)) this.#say('modes', `${what} was begun at ${seq} under ${mode}`);
  }
}

type Verdict = { readonly do: 'run' | 'ask' | 'deny'; readonly rule: string };

const TWIN = 'runtime:same-call-was-in-doubt';

const close = (known: Known): void => {
  delete known.question;
  delete known.leave;
};

type Labels = { readonly sure: readonly string[]; readonly maybe: readonly string[] };

type Maker = { made: number; readonly said: Set<string>; readonly maybe: Set<string> };

/** Of "3.7.2.1" it is "3.7.2"; the model itself makes the others. */
const makerOf = (call: string): string | undefined => {
  const parts = call.split('.');
  return parts.length === 4 ? parts.slice(0, 3).join('.') : undefined;
};

const turnOf = (call: string): number => Number(call.split('.')[0]);

const deadline = ({ at, terms: { expiresMs } }: Question): number =>
  expiresMs === undefined ? Infinity : at + expiresMs;

/** Whether this person's yes counts under the terms; the further people count once it was escalated to them. */
const mayRun = (
  { by, fourEyes, escalate }: AskTerms,
  person: Actor,
  asker: Actor | undefined,
  escalated: boolean,
): boolean => {
  if (fourEyes === true && person.name === asker?.name) return false;
  if (!by) return true;
  const names = [person.name, ...(person.roles ?? []).map((role) => `role:${role}`)];
  return [...by, ...(escalated ? (escalate?.to ?? []) : [])].some((one) => names.includes(one));
};

/** Simulated arguments are flat: one value at "/n", perhaps one at "/to". */
const holds = (condition: Condition, args: string): boolean => {
  const value = (JSON.parse(args) as Args)[condition.at.slice(1) as keyof Args];
  if (value === undefined) return false;
  if ('equals' in condition) return value === condition.equals;
  if ('oneOf' in condition) return condition.oneOf.includes(value);
  if ('atMost' in condition) return Number(value) <= condition.atMost;
  if ('atLeast' in condition) return Number(value) >= condition.atLeast;
  throw new Error('no simulated rule says this');
};

const sorted = (raw: string): string => {
  const { n, to } = JSON.parse(raw) as Args;
  return JSON.stringify({ n, to });
};
