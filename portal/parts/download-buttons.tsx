import { FILE_TYPES, type FileFormat, joined, safeName } from '../download.ts';

type DownloadButtonsProps<Format extends FileFormat> = {
  formats: readonly Format[];
  /** Of the file, without its ending. */
  name: string;
  /** For screen readers: `all results`. */
  what: string;
  titleOf(format: Format): string;
  linesOf(format: Format): Iterable<string>;
  onSaved?(): void;
};

/** One for each format. */
export function DownloadButtons<Format extends FileFormat>(props: DownloadButtonsProps<Format>) {
  const { formats, name, what, titleOf, linesOf, onSaved } = props;
  return (
    <>
      {formats.map((format) => (
        <button
          key={format}
          type="button"
          class="button"
          title={titleOf(format)}
          onClick={() => {
            saveFile(name, format, linesOf(format));
            onSaved?.();
          }}
        >
          ↓ {format.toUpperCase()}
          <span class="unseen">: download {what}</span>
        </button>
      ))}
    </>
  );
}

/** Some browsers begin to read the file after the click has returned. */
const REVOKE_MS = 60_000;

function saveFile(name: string, format: FileFormat, lines: Iterable<string>): void {
  const url = URL.createObjectURL(new Blob([...joined(lines)], { type: FILE_TYPES[format] }));
  const link = document.createElement('a');
  link.href = url;
  link.download = safeName(name, format);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
}
