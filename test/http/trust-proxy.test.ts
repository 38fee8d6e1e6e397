import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, stubStore } from './build.ts';

const DIRECT = '198.51.100.9';
const PROXY = '10.0.0.2';

for (const { why, trusted = [], from, forwarded, address } of [
  { why: 'no proxy is trusted', from: DIRECT, forwarded: '192.0.2.1', address: DIRECT },
  { why: 'the sender is not trusted', trusted: ['10.0.0.0/8'], from: DIRECT, forwarded: '192.0.2.1', address: DIRECT },
  { why: 'the proxy is trusted', trusted: ['10.0.0.0/8'], from: PROXY, forwarded: '192.0.2.1', address: '192.0.2.1' },
  { why: 'no header', trusted: ['10.0.0.0/8'], from: PROXY, forwarded: undefined, address: PROXY },
  { why: 'an empty header', trusted: ['10.0.0.0/8'], from: PROXY, forwarded: ' ', address: PROXY },
  {
    why: 'addresses that the client added itself are ignored',
    trusted: ['10.0.0.0/8'],
    from: PROXY,
    forwarded: '203.0.113.1, 127.0.0.1,10.0.0.7, 192.0.2.1',
    address: '192.0.2.1',
  },
  {
    why: 'two proxies',
    trusted: ['10.0.0.2', '172.16.0.0/12'],
    from: PROXY,
    forwarded: '203.0.113.1, 192.0.2.1, 172.16.5.5',
    address: '192.0.2.1',
  },
  {
    why: 'IPv6',
    trusted: ['2001:db8:1::/48'],
    from: '2001:db8:1::2',
    forwarded: '2001:db8:9::1',
    address: '2001:db8:9::1',
  },
  {
    why: 'IPv6 from an untrusted network',
    trusted: ['2001:db8:1::/48'],
    from: '2001:db8:2::2',
    forwarded: '::1',
    address: '2001:db8:2::2',
  },
  {
    why: 'IPv4 on an IPv6 socket',
    trusted: ['10.0.0.0/8'],
    from: `::ffff:${PROXY}`,
    forwarded: '192.0.2.1',
    address: '192.0.2.1',
  },
  {
    why: 'no IPv6 network contains an IPv4 address',
    trusted: ['::/8'],
    from: PROXY,
    forwarded: '192.0.2.1',
    address: PROXY,
  },
  {
    why: 'IPv4 with ports, as Azure Application Gateway writes it',
    trusted: ['10.0.0.0/8'],
    from: PROXY,
    forwarded: '203.0.113.1:80, 192.0.2.1:4711, 10.0.0.7:50123',
    address: '192.0.2.1',
  },
  {
    why: 'IPv6 with ports and brackets',
    trusted: [PROXY, '2001:db8:1::/48'],
    from: PROXY,
    forwarded: '[2001:db8:9::1]:4711,[2001:db8:1::7]',
    address: '2001:db8:9::1',
  },
  {
    why: 'an invalid address from a proxy is kept unchanged',
    trusted: [PROXY],
    from: PROXY,
    forwarded: 'x, 127.0.0.1 x',
    address: '127.0.0.1 x',
  },
]) {
  test(`the address of a client: ${why}`, async (t) => {
    let seen: string | undefined;
    const login = async ({ address }: { address: string }) => {
      seen = address;
      return { token: 't', expires: 1 };
    };
    const { app } = await build(t, { services: { store: stubStore({}), login }, options: { trustedProxies: trusted } });
    await app.inject({
      method: 'POST',
      url: '/api/v1/login',
      remoteAddress: from,
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      payload: { username: 'u', password: 'p', realm: 'intel' },
    });
    assert.equal(seen, address);
  });
}
