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
  answer?: {
    url: string;
    status: Record<StatusKey, CsvCell> | null;
    payload?: Record<PayloadKey, CsvCell> | null;
  } | null;
};

/** Scripts may read columns by position: new ones go to the end. */
const CELLS: Record<string, (checked: CheckedUrl) => CsvCell> = {
  line: ({ line }) => line,
  input: ({ input }) => input,
  result: ({ error, answer }) => (error !== null ? 'invalid' : answer ? 'found' : 'unknown'),
  url: ({ url, error, answer }) => (error === null ? (answer?.url ?? url) : null),
  status: ({ answer }) => answer?.status?.status,
  ts: ({ answer }) => answer?.status?.ts,
  removal: ({ answer }) => answer?.status?.removal,
  reporter: ({ answer }) => answer?.status?.reporter,
  payload_ts: ({ answer }) => answer?.payload?.ts,
  sha256_hash: ({ answer }) => answer?.payload?.sha256_hash,
  file_type: ({ answer }) => answer?.payload?.file_type,
  file_name: ({ answer }) => answer?.payload?.file_name,
  malware_family: ({ answer }) => answer?.payload?.['malware-family'],
  error: ({ error }) => error,
};

export const CHECK_COLUMNS = Object.keys(CELLS);

export const checkCells = (checked: CheckedUrl): CsvCell[] => Object.values(CELLS).map((cell) => cell(checked));
