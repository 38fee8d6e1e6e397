import type { CsvCell } from './csv.ts';

// The CSV of `urlwarden check`. The page for many URLs adds columns at its end.

type StatusKey = 'status' | 'ts' | 'removal' | 'reporter';
type PayloadKey = 'ts' | 'sha256_hash' | 'file_type' | 'file_name' | 'malware-family';

/** A URL of the input, or a text that is none. */
type CheckedUrl = {
  line: number;
  input: string;
  /** Normalized; null if it is none. */
  url: string | null;
  /** Why it is not valid. A server may refuse a URL that the page accepts. */
  error: string | null;
  /** The response of `url/last`, or none. */
  found?: {
    url: string;
    status: Record<StatusKey, CsvCell> | null;
    payload?: Record<PayloadKey, CsvCell> | null;
  } | null;
};

/** Scripts may read columns by position: new ones go to the end. */
const CELLS: Record<string, (checked: CheckedUrl) => CsvCell> = {
  line: ({ line }) => line,
  input: ({ input }) => input,
  result: ({ error, found }) => (error !== null ? 'invalid' : found ? 'found' : 'unknown'),
  url: ({ url, error, found }) => (error === null ? (found?.url ?? url) : null),
  status: ({ found }) => found?.status?.status,
  ts: ({ found }) => found?.status?.ts,
  removal: ({ found }) => found?.status?.removal,
  reporter: ({ found }) => found?.status?.reporter,
  payload_ts: ({ found }) => found?.payload?.ts,
  sha256_hash: ({ found }) => found?.payload?.sha256_hash,
  file_type: ({ found }) => found?.payload?.file_type,
  file_name: ({ found }) => found?.payload?.file_name,
  malware_family: ({ found }) => found?.payload?.['malware-family'],
  error: ({ error }) => error,
};

export const CHECK_COLUMNS = Object.keys(CELLS);

export const checkCells = (checked: CheckedUrl): CsvCell[] => Object.values(CELLS).map((cell) => cell(checked));
