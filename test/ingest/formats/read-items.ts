import { fileURLToPath } from 'node:url';
import type { ObservationInput } from '../../../src/core/observation.ts';
import type { EvidenceInput } from '../../../src/ingest/evidence.ts';
import {
  type Format,
  INPUT_LIMITS,
  type InputLimits,
  type Item,
  type ReadOptions,
  type Source,
} from '../../../src/ingest/sources/format.ts';
import { openFile, sourceOf } from '../../../src/ingest/sources/source.ts';

export const AS_OF_TS = 1_752_800_000;
const TIMES = { nowTs: AS_OF_TS + 1, asOfTs: AS_OF_TS };

/** Formats that need a choice get one. */
export const CHOICES: Record<string, Partial<ReadOptions>> = {
  'ip-list': { dataset: 'XBL' },
  'domain-list': { evidenceKind: 'malware' },
  'misp-warninglist': { listKind: 'shared' },
};

export async function readSource(
  format: Format,
  source: Source,
  limits: InputLimits = INPUT_LIMITS,
  options: Partial<ReadOptions> = CHOICES[format.name] ?? {},
): Promise<Item[]> {
  const items: Item[] = [];
  for await (const some of format.read(source, limits, { ...TIMES, ...options })) items.push(...some);
  return items;
}

export function readWith(format: Format, text: string, options: Partial<ReadOptions>): Promise<Item[]> {
  const source = sourceOf('test', inChunks(Buffer.from(text), 64 * 1024), null, () => null);
  return readSource(format, source, INPUT_LIMITS, options);
}

export function readText(format: Format, text: string | Buffer, limits: InputLimits = INPUT_LIMITS): Promise<Item[]> {
  return readSource(
    format,
    sourceOf('test', inChunks(Buffer.from(text), 64 * 1024), null, () => null, limits),
    limits,
  );
}

export async function readFixture(format: Format, name: string): Promise<Item[]> {
  return readSource(format, await openFile(fixture(name)));
}

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
}

export async function* inChunks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function inputsOf(items: Item[]): ObservationInput[] {
  return items.flatMap((item) => (item.kind === 'observations' ? item.inputs : []));
}

export function evidenceOf(items: Item[]): EvidenceInput[] {
  return items.flatMap((item) => (item.kind === 'evidence' ? item.inputs : []));
}

export function rejectsOf(items: Item[]): { line: number; reason: string }[] {
  return items.flatMap((item) => (item.kind === 'reject' ? { line: item.line, reason: item.reason } : []));
}

export function timesOf(items: Item[]): number[] {
  return items.flatMap((item) => (item.kind === 'time' ? item.ts : []));
}

export function ts(time: string): number {
  return Date.parse(time) / 1000;
}
