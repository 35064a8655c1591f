import { describe, expect, it } from 'vitest';
import { net } from '../../../../kernel/local/duckdb/functions/net.js';
import { checkAll, context, j, n, nul, openEngine, s } from './harness.js';

const engine = openEngine();

describe('IPv4', () => {
  checkAll(engine, net, [
    ['parse_ipv4', [s('192.168.1.1')], 3232235777n],
    ['parse_ipv4', [s('255.255.255.255')], 4294967295n],
    ['parse_ipv4', [s('256.1.1.1')], null],
    ['parse_ipv4', [s('01.1.1.1')], null],
    ['parse_ipv4', [s('1.1.1')], null],
    ['parse_ipv4', [s("1.1.1.1'; --")], null],
    ['parse_ipv4', [nul('string')], null],
    ['parse_ipv4_mask', [s('127.0.0.1'), n(24n)], 2130706432n],
    ['parse_ipv4_mask', [s('192.168.0.1'), n(24n)], 3232235520n],
    ['parse_ipv4_mask', [s('192.168.0.1'), n(0n)], 0n],
    ['parse_ipv4_mask', [s('192.168.0.1'), n(33n)], null],
    ['parse_ipv4_mask', [s('192.168.0.1'), n(200n)], null],
    ['parse_ipv4_mask', [s('192.168.0.1'), n(-1n)], null],
    ['parse_ipv4_mask', [s('192.168.0.1'), n(-9223372036854775808n)], null],
    ['format_ipv4_mask', [s('192.168.0.1'), n(-9223372036854775808n)], ''],
    ['ipv4_compare', [s('1.1.1.1'), s('1.1.1.1'), n(-9223372036854775808n)], null],
    ['ipv6_compare', [s('::1'), s('::1'), n(-9223372036854775808n)], null],
    ['format_ipv4', [n(3232235776n)], '192.168.1.0'],
    ['format_ipv4', [n(-1n)], ''],
    ['format_ipv4', [n(4294967296n)], ''],
    ['format_ipv4', [s('10.0.0.1')], '10.0.0.1'],
    ['format_ipv4', [s('nope')], ''],
    ['format_ipv4', [j(3232235776)], '192.168.1.0'],
    ['format_ipv4', [nul('long')], ''],
    ['format_ipv4_mask', [s('192.168.1.54'), n(24n)], '192.168.1.0/24'],
    ['format_ipv4_mask', [n(3232235830n), n(24n)], '192.168.1.0/24'],
    ['format_ipv4_mask', [s('192.168.1.54')], '192.168.1.54/32'],
    ['format_ipv4_mask', [s('192.168.1.54'), n(64n)], ''],
    ['format_ipv4_mask', [n(-1n), n(24n)], ''],
    ['format_ipv4_mask', [n(4294967296n), n(24n)], ''],
    ['ipv4_compare', [s('192.168.1.1'), s('192.168.1.10')], -1n],
    ['ipv4_compare', [s('192.168.1.10'), s('192.168.1.9')], 1n],
    ['ipv4_compare', [s('192.168.1.1/24'), s('192.168.1.255')], 0n],
    ['ipv4_compare', [s('192.168.1.1'), s('192.168.2.1'), n(16n)], 0n],
    ['ipv4_compare', [s('x'), s('192.168.2.1')], null],
    ['ipv4_compare', [s('1.1.1.1/33'), s('1.1.1.1')], null],
    ['ipv4_is_match', [s('203.0.113.112'), s('203.0.113.112')], true],
    ['ipv4_is_match', [s('192.168.1.7'), s('192.168.1.0/24')], true],
    ['ipv4_is_match', [s('192.168.1.7'), s('192.168.2.7'), n(24n)], false],
    ['ipv4_is_match', [s('192.168.1.7'), s('')], null],
    ['ipv4_is_in_range', [s('192.168.1.0'), s('192.168.1.0/24')], true],
    ['ipv4_is_in_range', [s('192.168.2.0'), s('192.168.1.0/24')], false],
    ['ipv4_is_in_range', [s('8.8.8.8'), s('0.0.0.0/0')], true],
    ['ipv4_is_in_range', [s('x'), s('192.168.1.0/24')], null],
    ['ipv4_is_in_any_range', [s('192.168.0.0'), j(['192.168.0.0/24', '10.0.0.0/8'])], true],
    ['ipv4_is_in_any_range', [s('10.1.1.1'), s('192.168.0.0/24'), s('10.0.0.0/8')], true],
    ['ipv4_is_in_any_range', [s('10.1.1.1'), j(['bad', '10.0.0.0/8'])], true],
    ['ipv4_is_in_any_range', [s('11.1.1.1'), j(['bad', '10.0.0.0/8'])], null],
    ['ipv4_is_in_any_range', [s('11.1.1.1'), j([])], false],
    ['ipv4_is_in_any_range', [s('x'), j(['10.0.0.0/8'])], null],
    ['ipv4_is_private', [s('192.168.0.1')], true],
    ['ipv4_is_private', [s('172.31.255.255')], true],
    ['ipv4_is_private', [s('172.32.0.0')], false],
    ['ipv4_is_private', [s('10.0.0.0/8')], true],
    ['ipv4_is_private', [s('8.8.8.8')], false],
    ['ipv4_is_private', [s('x')], null],
    ['ipv4_netmask_suffix', [s('192.168.1.1/24')], 24n],
    ['ipv4_netmask_suffix', [s('192.168.1.1')], 32n],
    ['ipv4_netmask_suffix', [s('192.168.1.1/99')], null],
  ]);
});

describe('IPv4 in text', () => {
  checkAll(engine, net, [
    ['has_ipv4', [s('Requests from: 192.168.1.1, 10.1.1.115.'), s('192.168.1.1')], true],
    ['has_ipv4', [s('Requests from: 192.168.1.1, 10.1.1.115.'), s('10.1.1.115')], true],
    ['has_ipv4', [s('192.168.1.10'), s('192.168.1.1')], false],
    ['has_ipv4', [s('a192.168.1.1'), s('192.168.1.1')], false],
    ['has_ipv4', [s('ip=192.168.1.1;'), s('192.168.1.1')], true],
    ['has_ipv4', [s('1.1.1.256'), s('1.1.1.256')], false],
    ['has_ipv4', [nul('string'), s('1.1.1.1')], null],
    ['has_ipv4_prefix', [s('192.168.0.1'), s('192.168.')], true],
    ['has_ipv4_prefix', [s('192.168.0.1'), s('192.16')], false],
    ['has_ipv4_prefix', [s('from 192.168.0.1'), s('192.168')], true],
    ['has_ipv4_prefix', [s('from 192.168.0.1'), s('192.168.0.1')], true],
    ['has_ipv4_prefix', [s('from 192.168.0.1'), s('')], false],
    ['has_any_ipv4', [s('192.168.1.1'), j(['192.168.1.1', '192.168.0.0/16'])], true],
    ['has_any_ipv4', [s('from 192.168.1.1'), j(['10.0.0.1', '192.168.0.0/16'])], true],
    ['has_any_ipv4', [s('from 192.168.1.1'), s('10.0.0.1'), s('192.168.1.1')], true],
    ['has_any_ipv4', [s('from 192.168.1.1'), j(['10.0.0.1', 'x'])], false],
    ['has_any_ipv4', [s('none'), j([])], false],
    ['has_any_ipv4_prefix', [s('192.168.0.1'), j(['172.16.', '192.168.'])], true],
    ['has_any_ipv4_prefix', [s('192.168.0.1'), s('172.16.'), s('10.')], false],
  ]);
});

describe('IPv6', () => {
  checkAll(engine, net, [
    ['ipv6_compare', [s('2001:db8::1'), s('2001:db8::abcd')], -1n],
    ['ipv6_compare', [s('2001:DB8:0:0::1'), s('2001:db8::1')], 0n],
    ['ipv6_compare', [s('::ffff:192.168.1.1'), s('192.168.1.1')], 0n],
    ['ipv6_compare', [s('ffff::'), s('::1')], 1n],
    ['ipv6_compare', [s('2001:db8::1'), s('2001:db8::2'), n(64n)], 0n],
    ['ipv6_compare', [s(':::'), s('::1')], null],
    ['ipv6_compare', [s('::1'), s('::1'), n(129n)], null],
    ['ipv6_is_match', [s('2001:db8:abcd::1'), s('2001:db8::/32')], true],
    ['ipv6_is_match', [s('2001:db9::1'), s('2001:db8::/32')], false],
    ['ipv6_is_match', [s('fe80::1%eth0'), s('fe80::/10')], null],
    ['ipv6_is_in_range', [s('fd00::a1b2'), s('fd00::/8')], true],
    ['ipv6_is_in_range', [s('fe00::a1b2'), s('fd00::/8')], false],
    ['ipv6_is_in_range', [s('10.1.2.3'), s('10.0.0.0/8')], true],
    ['ipv6_is_in_range', [s('fd00::1'), s('fd00::/129')], null],
    ['ipv6_is_in_any_range', [s('2001:db8::1234'), j(['fd00::/8', '2001:db8::/32'])], true],
    ['ipv6_is_in_any_range', [s('2001:db8::1234'), s('fd00::/8')], false],
    ['ipv6_is_in_any_range', [s('x'), j(['fd00::/8'])], null],
  ]);
  it('refuses what needs a database', () => {
    expect(() => net.geo_info_from_ip_address([s('8.8.8.8')], context)).toThrow('needs a database');
  });
});
