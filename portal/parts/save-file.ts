import { FILE_TYPES, type FileFormat } from '../download.ts';

/** Some browsers begin to read the file after the click has returned. */
const REVOKE_MS = 60_000;

export function saveFile(name: string, format: FileFormat, parts: Iterable<string>): void {
  const url = URL.createObjectURL(new Blob([...parts], { type: FILE_TYPES[format] }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}
