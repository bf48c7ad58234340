import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeAddress, sameAddress } from '../../src/tool/http/address.ts';
import { failure, get, watched } from './http-world.ts';

/** Spellings of hosts that lead, or once led, to the machine itself, its network or a metadata service. */
const SPELLINGS: readonly string[] = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '0177.0x0.0.01',
  '127.0.0.254',
  '127.255.255.255',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127．0．0．1',
  '127｡0｡0｡1',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
  '00000000',
  '⓪',
  '10.0.0.1',
  '10.1',
  '167772161',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '169.254.43518',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '192.168.257',
  '3232235777',
  '198.18.0.1',
  '168.63.129.16',
  '192.0.2.1',
  '198.51.100.7',
  '203.0.113.9',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:FFFF:7F00:0001]',
  '[::ffff:169.254.169.254]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fe80::1]',
  '[FE80::A9FE:A9FE]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[4000::1]',
];

describe('no-spelling-of-a-blocked-address-is-reached', () => {
  test('the table has at least 60 spellings', () => expect(SPELLINGS.length).toBeGreaterThanOrEqual(60));

  test.each(SPELLINGS)('%s', async (host) => {
    const { dial, dialled } = watched();
    const options = { allow: [{ origin: 'https://api.example.com' }], dial };
    const error = await failure(get(options, { url: `http://${host}/` }));
    expect(error.code).toBe('address-blocked');
    expect(error.details['hop']).toBe(1);
    expect(dialled).toEqual([]);
  });

  test.each(SPELLINGS)('%s, even where it is listed without allowPrivate', async (host) => {
    const { dial, dialled } = watched();
    const error = await failure(
      get({ allow: [{ origin: `http://${host}` }], dial }, { url: `http://${host}/` }),
    );
    expect(error.code).toBe('address-blocked');
    expect(dialled).toEqual([]);
  });
});

describe('every-address-of-a-name-is-checked', () => {
  const blocked = SPELLINGS.map((host) => new URL(`http://${host}`).hostname.replace(/^\[(.*)\]$/, '$1'));

  test.each([...new Set(blocked)])('public first, then %s', async (address) => {
    const { dial, dialled } = watched();
    const error = await failure(
      get(
        {
          allow: [{ origin: 'http://api.example.com' }],
          resolve: async () => ['8.8.8.8', address],
          dial,
        },
        { url: 'http://api.example.com/' },
      ),
    );
    expect(error.code).toBe('address-blocked');
    expect(error.details).toMatchObject({ hop: 1, address, host: 'api.example.com' });
    expect(dialled).toEqual([]);
  });

  test.each(['127.1', '2130706433', 'fe80::1%lo', 'localhost', '', '0x7f.1', ' 8.8.8.8', '08.8.8.8'])(
    'a resolver that answers "%s" is not believed',
    (address) => expect(judgeAddress(address).ok).toBe(false),
  );
});

describe('allow-private-opens-no-more-than-private', () => {
  const open = ['127.0.0.1', '10.1.2.3', '172.20.0.1', '192.168.0.9', '100.64.0.1', '::1', 'fd12::1'];
  const shut = [
    '169.254.169.254',
    '0.0.0.0',
    '224.0.0.1',
    '100.100.100.200',
    'fe80::1',
    'fd00:ec2::254',
    '::ffff:7f00:1',
  ];
  test.each(open)('%s can be opened', (address) => {
    expect(judgeAddress(address)).toMatchObject({ ok: false, reach: 'private' });
  });
  test.each(shut)('%s cannot', (address) => {
    expect(judgeAddress(address)).toMatchObject({ ok: false, reach: 'never' });
  });
});

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '93.184.216.34',
  '172.32.0.1',
  '172.15.255.255',
  '100.128.0.1',
  '2606:4700::1111',
  '2a00:1450::1',
  '2001:200::1',
  '192.0.1.1',
  '223.255.255.255',
  // Second bytes of blocked ranges under other first bytes.
  '8.16.0.1',
  '9.64.0.1',
  '23.168.1.1',
  '2a00:db8::1',
])('public-addresses-pass: %s', (address) => expect(judgeAddress(address)).toEqual({ ok: true }));

const hex = fc.nat(0xffff).map((word) => word.toString(16));

test('every-address-inside-a-refused-block-is-refused', () => {
  fc.assert(
    fc.property(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), fc.nat(0xffffff), (first, rest) => {
      const address = `${first}.${rest >> 16}.${(rest >> 8) & 255}.${rest & 255}`;
      expect(judgeAddress(address).ok).toBe(false);
    }),
  );
  const outside = fc.nat(0xffff).filter((word) => word < 0x2000 || word > 0x3fff);
  fc.assert(
    fc.property(outside, fc.array(hex, { minLength: 7, maxLength: 7 }), (word, rest) => {
      expect(judgeAddress([word.toString(16), ...rest].join(':')).ok).toBe(false);
    }),
  );
});

test('two-spellings-of-one-address-are-equal-and-a-mapped-one-is-not', () => {
  expect(sameAddress('::1', '0:0:0:0:0:0:0:1')).toBe(true);
  expect(sameAddress('127.0.0.1', '::ffff:127.0.0.1')).toBe(false);
  expect(sameAddress('', '127.0.0.1')).toBe(false);
});
