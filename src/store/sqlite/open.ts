import type { Control } from '../control.ts';
import type { Store } from '../store.ts';
import { createControlReads } from './control-read.ts';
import { openPart } from './open-part.ts';
import { createReadStreams } from './read-streams.ts';
import { createReadUrl } from './read-url.ts';
import { createSearch } from './search.ts';

/** The embedded intelligence store. */
export function openSqliteStore(path: string): Store {
  const { db, write, checkFile, close } = openPart('intelligence', path);
  const check = db.prepare<[number]>('select count(*) from migrations');
  return {
    apply: (observations) => write('apply', observations),
    ...createReadUrl(db),
    ...createReadStreams(db),
    search: createSearch(db),

    async ready() {
      check.get();
      checkFile();
    },
    close,
  };
}

/** The embedded control store. */
export function openSqliteControl(path: string): Control {
  const { db, write, checkFile, close } = openPart('control', path);
  const reads = createControlReads(db);
  return {
    ...reads,
    async version() {
      checkFile();
      return reads.version();
    },
    addAccount: (account) => write('addAccount', account),
    changeAccount: (sub, change) => write('changeAccount', sub, change),
    removeAccount: (sub) => write('removeAccount', sub),
    putTier: (tier) => write('putTier', tier),
    removeTier: (name) => write('removeTier', name),
    addKey: (key, keepSince) => write('addKey', key, keepSince),
    ensureKey: (key) => write('ensureKey', key),
    addUsage: (usage) => write('addUsage', usage),
    close,
  };
}
