import { parseNetwork } from '../../core/ip/network.ts';
import { refangHost } from '../../core/url/refang.ts';
import { visibleQuery } from '../output.ts';
import { counted } from '../progress.ts';
import { queriesCommand, type TextResult } from '../queries.ts';

export const cost = queriesCommand(
  {
    synopsis: 'cost [ADDRESS…]',
    about: `Shows the canonical form of each IPv4 or IPv6 address or network (address/prefix), and how many
queries a search for it counts as. Without operands it reads one address per line of standard input. Defanged addresses such as 192[.]0[.]2[.]1 are accepted, except
in JSON from standard input.

The exit code is 1 if an address was refused, otherwise 0. With --json it is always 0.`,
    jsonOutput: '{"canonical":…,"cost":…} or {"error":…}',
    examples: ['urlwarden cost 192.0.2.77/24 2001:db8::/48'],
  },
  { resultJson, resultText, refang: refangHost },
);

function resultJson(value: unknown): object {
  if (typeof value !== 'string') return { error: 'invalid_type' };
  const parsed = parseNetwork(value);
  return parsed.ok ? { canonical: parsed.network.canonical, cost: parsed.network.cost } : { error: parsed.reason };
}

function resultText(input: string): TextResult {
  const parsed = parseNetwork(refangHost(input));
  const query = visibleQuery(input);
  if (!parsed.ok) return { text: `${query}\n  refused: ${parsed.reason}\n`, isRefused: true };
  const { canonical, cost } = parsed.network;
  return {
    text: `${query}\n→ ${canonical} counts as ${counted(cost, 'query', 'queries')}\n`,
    isRefused: false,
  };
}
