import { STATUS_OF } from '../core/records.ts';
import { type LastRow, toLast } from './record-rows.ts';
import type { ExportedUrl, ExportFilter } from './store.ts';

export type ExportedRow = [key: Uint8Array, host: string, ...LastRow];

export function toExported([, host, ...last]: ExportedRow): ExportedUrl {
  return { ...toLast(last), host };
}

export function isWanted({ event, payload }: ExportedUrl, { since, status }: ExportFilter): boolean {
  const newest = Math.max(event?.ts ?? 0, payload?.ts ?? 0);
  if (since !== undefined && newest < since) return false;
  return status === undefined || (event !== null && STATUS_OF[event.kind] === status);
}
