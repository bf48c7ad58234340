/**
 * Which addresses a tool may talk to. Works on the bytes of an address, so a spelling cannot slip past:
 * text that is not a plain IPv4 or IPv6 address is refused, never guessed.
 *
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890 and updates); the metadata
 * addresses are those of the large clouds.
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `private` can be opened by an allow entry with `allowPrivate`; `never` cannot be opened at all. */
type Reach = 'private' | 'never';

export type AddressVerdict =
  | { readonly ok: true }
  /** `range` names the range for a person, for example "loopback". */
  | { readonly ok: false; readonly reach: Reach; readonly range: string };

type Range = { readonly bytes: readonly number[]; readonly bits: number; reach: Reach; name: string };

const range = (cidr: string, name: string, reach: Reach = 'never'): Range => {
  const [address, bits] = ipaddr.parseCIDR(cidr);
  return { bytes: address.toByteArray(), bits, reach, name };
};

/** The first match counts: single addresses stand before the ranges around them. */
const RANGES: readonly Range[] = [
  range('0.0.0.0/8', 'this network'),
  range('10.0.0.0/8', 'private network', 'private'),
  range('100.100.100.200/32', 'cloud metadata'),
  range('100.64.0.0/10', 'carrier network', 'private'),
  range('127.0.0.0/8', 'loopback', 'private'),
  range('168.63.129.16/32', 'cloud metadata'),
  range('169.254.0.0/16', 'link-local, cloud metadata'),
  range('172.16.0.0/12', 'private network', 'private'),
  range('192.0.0.0/24', 'protocol assignments'),
  range('192.0.2.0/24', 'documentation'),
  range('192.88.99.0/24', '6to4 relay'),
  range('192.168.0.0/16', 'private network', 'private'),
  range('198.18.0.0/15', 'benchmarking'),
  range('198.51.100.0/24', 'documentation'),
  range('203.0.113.0/24', 'documentation'),
  range('224.0.0.0/4', 'multicast'),
  range('240.0.0.0/4', 'reserved'),
  range('::/128', 'unspecified'),
  range('::1/128', 'loopback', 'private'),
  range('::/96', 'IPv4-compatible'),
  range('::ffff:0:0/96', 'IPv4-mapped'),
  range('::ffff:0:0:0/96', 'IPv4-translated'),
  range('64:ff9b::/96', 'NAT64'),
  range('64:ff9b:1::/48', 'local NAT64'),
  range('100::/64', 'discard'),
  range('2001::/32', 'Teredo'),
  range('2001::/23', 'protocol assignments'),
  range('2001:db8::/32', 'documentation'),
  range('2002::/16', '6to4'),
  range('3fff::/20', 'documentation'),
  range('fd00:ec2::254/128', 'cloud metadata'),
  range('fd20:ce::254/128', 'cloud metadata'),
  range('fc00::/7', 'unique local', 'private'),
  range('fe80::/10', 'link-local'),
  range('fec0::/10', 'site-local'),
  range('ff00::/8', 'multicast'),
];

/** Everything else in IPv6 that is not handed out yet is not a public address either. */
const IPV6_GLOBAL: Range = range('2000::/3', 'global unicast');

const within = (bytes: readonly number[], { bytes: prefix, bits }: Range): boolean => {
  if (bytes.length !== prefix.length) return false;
  for (let at = 0, left = bits; left > 0; at++, left -= 8) {
    const mask = left >= 8 ? 0xff : (0xff << (8 - left)) & 0xff;
    if (((bytes[at] ?? 0) & mask) !== ((prefix[at] ?? 0) & mask)) return false;
  }
  return true;
};

/** The bytes of a plain address (4 or 16); undefined for anything else, also for "127.1" and "fe80::1%eth0". */
const addressBytes = (address: string): readonly number[] | undefined =>
  isIP(address) === 0 || address.includes('%') ? undefined : ipaddr.parse(address).toByteArray();

export const judgeAddress = (address: string): AddressVerdict => {
  const bytes = addressBytes(address);
  if (!bytes) return { ok: false, reach: 'never', range: 'not a plain IP address' };
  const hit = RANGES.find((candidate) => within(bytes, candidate));
  if (hit) return { ok: false, reach: hit.reach, range: hit.name };
  if (bytes.length === 16 && !within(bytes, IPV6_GLOBAL))
    return { ok: false, reach: 'never', range: 'unassigned' };
  return { ok: true };
};

/** Whether two spellings are one address. An IPv4-mapped address is not the IPv4 address. */
export const sameAddress = (one: string, other: string): boolean => {
  const [a, b] = [addressBytes(one), addressBytes(other)];
  return a !== undefined && b !== undefined && a.length === b.length && a.every((byte, at) => byte === b[at]);
};
