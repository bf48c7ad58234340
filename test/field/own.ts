/**
 * Kinds of trouble, each with instances of our own beside the given case: other bytes, another order, another tool. An
 * instance is a test of the project, by file and name, so it runs where the field cases are absent.
 */
type Instance = readonly [file: string, name: string];

const strict = 'test/property/strict.test.ts';
const proposal = 'test/spec/proposal.test.ts';
const approvals = 'test/promise/approvals.test.ts';
const confinement = 'test/tool/files-confinement.test.ts';
const redirect = 'test/tool/http-redirect.test.ts';
const context = 'test/promise/context.test.ts';
const reuse = 'test/view/cache-reuse.test.ts';
const own = 'test/field/own.test.ts';

export const OWN: Readonly<Record<string, readonly Instance[]>> = {
  'approval.exactly-once': [
    [approvals, 'same-decision-twice-one-execution: again after all is done'],
    [approvals, 'parallel-approvals: eight people answer at one moment'],
  ],
  'approval.fail-closed': [
    ['test/spec/approval.test.ts', 'another digest is refused, and the question stands'],
    ['test/server/turns.test.ts', 'a decision on another digest, or about another call, does nothing'],
  ],
  'approval.lost': [
    [context, 'a-turn-with-an-open-call stays'],
    ['test/property/selection.test.ts', 'any conversation, any selection, any compaction'],
  ],
  'approval.misleading-preview': [
    [
      'test/view/reveal.test.ts',
      'shows half characters, tags, fillers and private characters as code points',
    ],
    ['test/cli/approvals.test.ts', 'shows escape sequences, direction controls and zero-width characters'],
  ],
  'approval.partial-batch': [
    [approvals, 'approve-a-reject-b: a runs, b does not'],
    [approvals, 'an approved call runs while another one still waits'],
  ],
  'approval.rule-too-wide': [
    ['test/spec/grant-exact.test.ts', 'the-same-call-again covers exactly what is the same'],
    ['test/spec/policy.test.ts', 'tool patterns match whole names, or a prefix before'],
  ],
  'approval.stale': [
    ['test/promise/recheck.test.ts', 'a file that changed under a freeze, after the yes'],
    ['test/promise/taken.test.ts', 'where the schema gives something else after the yes'],
    ['test/server/late-decision.test.ts', 'after the question has lapsed and its turn has ended'],
  ],
  'approval.wrong-actor': [
    ['test/server/guard.test.ts', 'the actor comes from the token: what a body says of it is refused'],
    ['test/server/guard.test.ts', 'a cookie alone reads and changes nothing'],
  ],
  'args.hostile-shape': [
    [strict, '__proto__ is a key of its own'],
    ['test/tool/mcp-definition.test.ts', '20,000 levels'],
  ],
  'args.lossy-parse': [
    [strict, 'keeps every digit of a whole number'],
    [strict, 'refuses a key that stands twice, however it is spelled'],
    ['test/tool/mcp-http.test.ts', 'digits survive both ways'],
  ],
  'args.not-complete-json': [
    [proposal, 'the last call at the output limit, where its text is cut'],
    [proposal, 'a broken earlier one is merely broken'],
  ],
  'args.wrong-container': [
    [proposal, 'an argument text of %j is the empty object'],
    ['test/model/chat-lenient.test.ts', 'has calls without ids, with objects for arguments'],
  ],
  'cache.prefix': [
    [reuse, 'a-clock-that-the-adapter-adds is named'],
    [reuse, 'what-broke-the-prefix has a name: tool order, a tool more'],
  ],
  'calendar.time': [
    ['test/tool/calendar-time.test.ts', 'the hour that happens twice'],
    ['test/tool/calendar-time.test.ts', 'the hour that does not exist is moved forward'],
  ],
  'call.id-collision': [
    [proposal, 'two calls of one response with the same label stay two calls'],
    ['test/property/session.test.ts', 'ids of calls are unique in a request'],
  ],
  'call.unknown-tool': [
    [proposal, 'names of the language itself are no tools'],
    ['test/promise/rehearse.test.ts', 'an agent without a tool is told so'],
  ],
  'cancel.midflight': [
    ['test/promise/cancel.test.ts', 'cancel-leaves-receipt: what landed, what was stopped'],
    ['test/spec/cancel.test.ts', 'that wait for a person, for a preview, or for their start'],
  ],
  'context.cannot-shrink': [
    [context, 'what-is-fixed-and-too-large is said at once'],
    [context, 'a-summary-that-is-none changes nothing'],
  ],
  'context.orphans': [
    ['test/context/check.test.ts', 'each-rule-catches-its-breach'],
    ['test/property/selection.test.ts', 'any conversation, any selection, any compaction'],
  ],
  'cost.accounting': [
    ['test/model/anthropic-contract.test.ts', 'cache counts are four classes that do not overlap'],
    ['test/model/chat-lenient.test.ts', 'are those of the last report'],
  ],
  'csv.dialect': [
    ['test/tool/csv.test.ts', 'a single column, blank lines, old Mac line ends'],
    ['test/tool/csv-property.test.ts', 'the scanner reads what another parser reads'],
  ],
  'csv.formula': [
    ['test/tool/csv.test.ts', 'a formula behind the delimiter of another country is quoted'],
    ['test/tool/csv-property.test.ts', 'whatever is written reads back as it was, guarded'],
  ],
  'data.encoding': [
    ['test/tool/http-text.test.ts', 'no bytes make it fail or give a replacement character'],
    ['test/tool/csv.test.ts', 'windows-1252, UTF-16'],
  ],
  'diff.noise': [
    ['test/suite/exam.test.ts', 'two-models-differ-exactly-where-they-do'],
    ['test/suite/exam.test.ts', 'the-first-difference-is-symmetric'],
  ],
  'effect.unknown-outcome': [
    ['test/promise/kill.test.ts', 'while tools run: each kind as it has to be'],
    ['test/promise/doubt.test.ts', 'a write that threw half way through is in doubt'],
    ['test/tool/mcp-process.test.ts', 'a server that dies in a write leaves the call in doubt'],
  ],
  'fork.consistency': [
    ['test/property/fork.test.ts', 'at any event of any session'],
    ['test/promise/fork.test.ts', 'a call that was started is closed as unknown'],
  ],
  'fs.escape': [
    [confinement, 'a hard link is refused for reading and writing'],
    [confinement, 'a FIFO, a socket and a device are refused at once'],
  ],
  'fs.line-endings': [
    ['test/tool/files-edit.test.ts', 'the LF view maps every position back'],
    ['test/tool/files-change.test.ts', 'changes of encoding and of line ends are named'],
  ],
  'fs.name-identity': [
    [confinement, 'protection and folders fold too'],
    [confinement, 'another name of a protected file is refused'],
  ],
  'http.credential-leak': [
    [redirect, 'an answer that repeats it is masked in every form'],
    [redirect, 'a secret of one origin is not sent to another'],
    ['test/tool/mcp-http.test.ts', 'a redirect to another place is not followed'],
  ],
  'http.idempotency': [
    ['test/server/turns.test.ts', 'the same key and content has the same answer'],
    ['test/server/restart.test.ts', 'the same key sent by fifty clients at once is one turn'],
  ],
  'http.ssrf': [
    [redirect, 'a chain ends at loopback although it began at a listed host'],
    [redirect, 'a name that answers public, then loopback'],
  ],
  'log.evolution': [
    ['test/promise/newer.test.ts', 'written as version %i it is lifted'],
    ['test/contract/sqlite.test.ts', 'a store of each earlier format is brought up to date'],
  ],
  'log.growth': [
    ['test/contract/sqlite.test.ts', 'a body that compresses takes less room, and a blob is kept once'],
    ['test/promise/fork.test.ts', 'no byte of the past is stored again'],
  ],
  'loop.runaway': [
    ['test/spec/turn.test.ts', 'repeatedCalls counts steps in a row with the same calls, in whatever order'],
    ['test/spec/turn.test.ts', 'stepsPerTurn stops a model that pauses for ever'],
  ],
  'mail.header-injection': [
    [own, 'a line break in a name or in the name of an attachment adds no header'],
    ['test/tool/calendar-tools.test.ts', 'text cannot add lines to an export'],
  ],
  'mail.parse': [
    ['test/tool/mail-read.test.ts', 'HTML alone becomes text, its links are listed'],
    ['test/tool/mail-read.test.ts', 'folded headers and long subjects are one line'],
  ],
  'mcp.naming': [
    [own, 'any two tools of any two servers have two names, also on the wire'],
    [own, 'names with dots, spaces and letters of other alphabets'],
  ],
  'mcp.result-mapping': [
    ['test/tool/mcp-http.test.ts', 'every kind of part'],
    ['test/tool/mcp-http.test.ts', 'errors of the protocol: some say that nothing was run'],
  ],
  'mcp.session': [
    ['test/tool/mcp-process.test.ts', 'what was held for a session is said to be gone'],
    ['test/tool/mcp-http.test.ts', 'a server that was started anew with another definition gets no call'],
  ],
  'output.html': [
    ['test/bundle/page.test.ts', 'is whole markup of its own tags, whatever stands in the session'],
    ['test/bundle/browser.test.ts', 'is shown whole, and asks nobody for anything'],
    ['test/suite/reports.test.ts', 'the page escapes what others wrote and holds no script'],
  ],
  'output.terminal': [
    ['test/cli/foreign-text.test.ts', 'no-escape-through-any-command'],
    ['test/cli/terminal-foreign.test.ts', 'never reaches the stream raw, by any way'],
  ],
  'output.time': [
    ['test/view/format.test.ts', 'today is the day of the zone, not of UTC'],
    ['test/view/format.test.ts', 'a deadline across the change to summer time is right in both zones'],
  ],
  'policy.enforced': [
    ['test/promise/modes.test.ts', 'a read-only session reads real files and writes none'],
    ['test/cli/yaml-agent.test.ts', 'no-tool-touches-the-record'],
    ['test/cli/tool-servers.test.ts', 'no file tool reaches what was approved'],
  ],
  'provider.error-shape': [
    ['test/model/problem.test.ts', 'an error is found in every wording'],
    ['test/model/problem.test.ts', 'retry-after-ms goes first, then seconds, then a date'],
  ],
  'recorder.stale': [
    [own, 'a recording does not answer for another tool, nor for another description'],
    ['test/promise/rehearse.test.ts', 'another policy diverges where it judges otherwise'],
  ],
  'replay.byte-identity': [
    ['test/context/recorded-prefix.test.ts', 'any body is put together again'],
    ['test/property/session.test.ts', 'whatever happens: the chain holds'],
  ],
  'replay.hidden-input': [
    ['test/golden/golden.test.ts', 'nothing is found where nothing is planted'],
    [reuse, 'what-changes-by-itself is recognised'],
  ],
  'result.unbounded-size': [
    ['test/tool/http-get.test.ts', 'members that unfold to nothing are counted as they come'],
    ['test/property/result.test.ts', 'that is a stream over the limit says so'],
  ],
  'sandbox.limits': [
    ['test/room/repeatable.test.ts', 'the tick limit stops at the same turn of a loop'],
    ['test/room/repeatable.test.ts', 'too many calls, or too much in them'],
  ],
  'scenario.yaml': [
    ['test/cli/yaml-numbers.test.ts', '%s where a text is meant'],
    ['test/cli/yaml-agent.test.ts', 'files-are-bounded: 1 MiB, UTF-8, one document, no aliases'],
  ],
  'secrets.leak': [
    ['test/model/exchange.test.ts', 'streamed text shows no key, however it is split'],
    ['test/tool/http-text.test.ts', 'raw, URL, JSON, base64 at any offset, hex'],
    [
      'test/tool/mcp-process.test.ts',
      'the process gets the variables that were named, and no secret comes back',
    ],
  ],
  'sse.resume': [
    ['test/server/stream.test.ts', 'that is cut off after every single event'],
    ['test/server/restart.test.ts', 'a stream over the kill goes on where it broke off'],
  ],
  'store.placement': [
    [own, 'shared folders of other kinds are refused, local ones are taken'],
    ['test/crash/storage-disk.test.ts', 'its folder replaced by a link that leads nowhere'],
  ],
  'store.torn-file': [
    ['test/bundle/bundle.test.ts', 'that was cut is found out at every length'],
    ['test/bundle/bundle.test.ts', 'with a line taken, doubled, moved or added is found out'],
  ],
  'store.write-failure': [
    ['test/crash/storage-disk.test.ts', 'with a result in hand: the tool is not run again'],
    ['test/crash/storage-commit.test.ts', 'three times in a row, %s the append'],
  ],
  'stream.cut': [
    ['test/model/openai-split.test.ts', 'are no answer when they end early, wherever that is'],
    ['test/tool/mcp-http.test.ts', 'a stream that breaks off leaves a write in doubt at once'],
  ],
  'stream.framing': [
    ['test/model/openai-split.test.ts', 'read the same split at every byte at once'],
    ['test/model/openai-events.test.ts', 'lines that end in %j, split in three anywhere'],
  ],
  'suite.honesty': [
    ['test/cli/suite.test.ts', 'nothing-examined-is-no-pass'],
    ['test/cli/suite.test.ts', 'three-outcomes-three-codes'],
  ],
  'text.unsafe-code-units': [
    ['test/promise/sendable.test.ts', 'in a message, a result, an argument, a name and an answer'],
    ['test/property/result.test.ts', 'that is a text over its limit is cut between characters'],
  ],
  'time.clock-jump': [
    ['test/crash/clock.test.ts', 'to and fro after every append'],
    ['test/crash/clock.test.ts', 'while a write runs: it is in doubt'],
  ],
  'tool-def.drift': [
    ['test/promise/recheck.test.ts', 'a tool whose definition is another one since the question'],
    ['test/tool/mcp-definition.test.ts', '%s: nothing is called'],
  ],
  'tool.late-settlement': [
    ['test/spec/late.test.ts', 'that says it failed resolves the doubt, too'],
    ['test/promise/doubt.test.ts', 'a result that comes after a person has answered is kept'],
  ],
  'tool.odd-throw': [
    ['test/property/result.test.ts', 'of any kind becomes one outcome, never another exception'],
    ['test/promise/recovery.test.ts', 'an error whose message is no text is an outcome like any other'],
  ],
  'tool.unserializable-result': [
    [
      'test/promise/odd-results.test.ts',
      'with a row that cannot be written down is a failure that says where',
    ],
    ['test/property/result.test.ts', 'that has holes is still JSON'],
  ],
  'turn.message-during-work': [
    ['test/promise/steer.test.ts', 'steer: one that comes while the last answer is on its way'],
    ['test/promise/steer.test.ts', 'interrupt: the running turn is cancelled with a receipt'],
  ],
  'turn.no-usable-content': [
    ['test/spec/turn.test.ts', 'whose text is %j is an empty answer'],
    ['test/model/chat-lenient.test.ts', 'a refusal is one whatever the reason says'],
  ],
  'worker.two-owners': [
    ['test/crash/postgres-takeover.test.ts', 'a process that stands still longer than its lease'],
    ['test/promise/recovery.test.ts', 'a driver that was taken over from writes nothing more'],
  ],
};
