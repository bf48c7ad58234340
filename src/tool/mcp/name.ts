/**
 * The name under which an agent has a tool of a tool server: `server.tool`. A function of the two names alone, so that
 * it is the same on every machine and after every restart, and no other server can take it: a server's name holds no
 * dot. Towards a provider every dot becomes "__" (model/provider/tool-name.ts), and no two names here become one there.
 */
import { sha256 } from '../../event/canonical.ts';

/** A server's own name, which leads the names of all its tools. */
export const SERVER_NAME: RegExp = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
export const SERVER_NAME_RULE = '1 to 40 of a-z, 0-9 and "-", not beginning or ending with "-"';
/** Of the name as a provider gets it. */
const WIRE_CHARS_MAX = 64;
/** Words with one separator between them: such a name cannot become another tool's. */
const PLAIN = /^[A-Za-z0-9-]+(?:[._][A-Za-z0-9-]+)*$/;
const DIGEST_CHARS = 8;

export const toolName = (server: string, tool: string): string => {
  // A dot takes two characters on the wire, and so does the one behind the server's name.
  const room = WIRE_CHARS_MAX - server.length - '__'.length;
  if (PLAIN.test(tool) && tool.replaceAll('.', '__').length <= room) return `${server}.${tool}`;
  const digest = sha256(`${server}\0${tool}`).slice(0, DIGEST_CHARS);
  const words = tool.replaceAll(/[^A-Za-z0-9]+/g, '-').replace(/^-/, '');
  const head = words.slice(0, room - DIGEST_CHARS - 1).replace(/-$/, '');
  return head === '' ? `${server}.${digest}` : `${server}.${head}-${digest}`;
};
