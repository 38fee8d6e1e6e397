import type { ListedUrl } from './batch.ts';
import { openNameless } from './temporary-file.ts';

export type ListedUrls = {
  add(urls: readonly ListedUrl[]): Promise<void>;
  /** All of them, `size` at a time. */
  read(size: number): AsyncGenerator<ListedUrl[]>;
  close(): Promise<void>;
};

/** URLs put aside until the end of their source is known, on disk: there may be millions. */
export async function openListedUrls(): Promise<ListedUrls> {
  const file = await openNameless();
  return {
    async add(urls) {
      await file.appendFile(urls.map(({ url, host }) => `${JSON.stringify([url, host])}\n`).join(''));
    },

    async *read(size) {
      let urls: ListedUrl[] = [];
      for await (const line of file.readLines({ start: 0, autoClose: false })) {
        const [url, host] = JSON.parse(line) as [string, string];
        if (urls.push({ url, host }) < size) continue;
        yield urls;
        urls = [];
      }
      if (urls.length > 0) yield urls;
    },

    close: () => file.close(),
  };
}
