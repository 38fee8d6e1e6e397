import { parseNetwork } from '../../core/ip/network.ts';
import type { Command } from '../command.ts';
import { visible } from '../output.ts';
import { answerAll } from '../questions.ts';

export const cost: Command = {
  usage: `urlwarden cost [--json] [ADDRESS…]

Shows the canonical form of each IPv4 or IPv6 address or network (address/prefix) and how many queries
a search for it counts as. Without arguments it reads one per line from standard input.

  --json   for programs: standard input has one JSON string per line; the output has one object per
           line, {"canonical":…,"cost":…} or {"error":…}

Exit code: 1 when an address was refused (with --json a refusal is an answer), otherwise 0.

  urlwarden cost 192.0.2.77/24 2001:db8::/48
`,
  run: (args) => answerAll({ answerJson, answerText }, args),
};

function answerJson(value: unknown): object {
  if (typeof value !== 'string') return { error: 'invalid_type' };
  const parsed = parseNetwork(value);
  return parsed.ok ? { canonical: parsed.network.canonical, cost: parsed.network.cost } : { error: parsed.reason };
}

function answerText(input: string): { text: string; refused: boolean } {
  const parsed = parseNetwork(input);
  const question = visible(input);
  if (!parsed.ok) return { text: `${question}\n  refused: ${parsed.reason}\n`, refused: true };
  const { canonical, cost } = parsed.network;
  return {
    text: `${question}\n→ ${canonical} counts as ${cost} ${cost === 1 ? 'query' : 'queries'}\n`,
    refused: false,
  };
}
