/** The agent as the session recorded it, and what the record proves. */
import type { PolicyRule, ToolDefinition } from '../../event/definition.ts';
import type { Verified } from '../../replay/verify.ts';
import { countOf, formatCost, formatCount, formatDuration } from '../../view/format.ts';
import { markup, NOTHING, type Markup } from '../../view/markup.ts';
import { fields, fold, hash, section, type Paper } from './paper.ts';

export const definitionSection = (paper: Paper): Markup => {
  const { agent } = paper.reading.state;
  const { limits, policy, tools, model } = agent;
  return section({ id: 'agent', title: 'Agent', note: 'as the session recorded it last' }, [
    fields([
      ['Name', agent.name],
      ['Model', `${model.provider}, ${model.name}`],
      ['Parameters', paper.json(model.params)],
    ]),
    fold(markup`Instructions`, paper.block(agent.instructions)),
    fold(markup`${countOf(tools.length, 'tool')}`, markup`${tools.map((tool) => toolMarkup(paper, tool))}`),
    fold(
      markup`Policy, ${countOf(policy.rules.length, 'rule')}`,
      markup`<ol class="rules">${policy.rules.map(ruleMarkup)}</ol><p class="cap">Without a rule that matches, reads are allowed and the rest is asked.</p>`,
    ),
    fold(
      markup`Limits`,
      fields([
        ['Steps a turn', formatCount(limits.stepsPerTurn)],
        ['Calls a step', formatCount(limits.callsPerStep)],
        ['Attempts a request', formatCount(limits.requestAttempts)],
        ['Time a turn', formatDuration(limits.turnMs)],
        ['Cost a turn', formatCost(limits.turnCostUsd)],
        ['Bytes of a result', formatCount(limits.resultBytes)],
      ]),
    ),
  ]);
};

const toolMarkup = (paper: Paper, tool: ToolDefinition): Markup => {
  const { name, effect, labels, approval, description, inputSchema, digest } = tool;
  const tags = [
    `effect ${effect}`,
    ...(approval === 'policy' ? [] : [`asks ${approval}`]),
    ...(labels.untrusted ? ['untrusted'] : []),
    ...(labels.private ? ['private'] : []),
  ];
  return fold(
    markup`<code class="tool">${name}</code> ${tags.map((tag) => markup`<span class="tag">${tag}</span> `)}`,
    markup`<p>${description}</p>${paper.json(inputSchema)}<p class="cap">Definition ${hash(digest)}</p>`,
  );
};

const ruleMarkup = ({ id, do: what, tools, effects, reason, when }: PolicyRule): Markup => {
  const about = [
    ...(tools ? [`tools ${tools.join(', ')}`] : []),
    ...(effects ? [`effects ${effects.join(', ')}`] : []),
    ...(when && when.length > 0 ? [countOf(when.length, 'condition')] : []),
  ];
  return markup`<li><b>${what}</b> <code>${id}</code> ${about.join(', ')}${reason === undefined ? NOTHING : markup` <small>${reason}</small>`}</li>`;
};

export const proofSection = (paper: Paper, verified: Verified): Markup => {
  const { session, events, blobs, requests, decisions, head, removed } = verified;
  return section({ id: 'proof', title: 'Proof' }, [
    markup`<p>Before this page was written the record was checked: the hash of each event, every file beside the log, the prefix chain of every request${decisions > 0 ? ', and every decision, made again from the recorded facts' : ''}. The page itself proves nothing; a bundle of the session does, on any machine: <code>onrecord export ${session}</code>, then <code>onrecord verify FILE</code>.</p>`,
    fields([
      ['Session', markup`<code>${session}</code>`],
      ['Head', markup`<code class="long">${head}</code>`],
      [
        'Checked',
        `${countOf(events, 'event')}, ${countOf(blobs, 'blob')}, ${countOf(requests, 'request')}, ${countOf(decisions, 'decision')}`,
      ],
      ['Recorded by', programs(paper).join(', ')],
      ['Removed', removed.events === 0 ? undefined : `content of ${countOf(removed.events, 'event')}`],
    ]),
  ]);
};

const programs = ({ reading }: Paper): readonly string[] => [
  ...new Set(
    reading.events.flatMap((event) =>
      event.type === 'session.created' || event.type === 'agent.updated' ? [event.data.program] : [],
    ),
  ),
];
