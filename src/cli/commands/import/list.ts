import type { ImportRecord } from '../../../store/control.ts';
import { controlCommand } from '../../data-command.ts';
import { table, timeText } from '../../table.ts';

const SHOWN = 50;

export const importList = controlCommand(
  {
    synopsis: 'import list [--feed NAME]',
    about: `Lists the newest ${SHOWN} imports and how they ended, the newest first.\n`,
    flags: '  --feed NAME  only imports of this feed\n',
    options: { feed: { type: 'string' } },
  },
  async (control, { options: { feed } }) => {
    const filter = typeof feed === 'string' ? { feed, limit: SHOWN } : { limit: SHOWN };
    const imports = await control.imports(filter);
    return { text: imports.length > 0 ? table(HEADINGS, imports.map(toRow)) : NONE, json: imports };
  },
);

const HEADINGS = ['ID', 'FEED', 'FORMAT', 'STARTED', 'ENDED', 'READ', 'NEW URLS', 'REJECTED', 'SOURCE'];
const NONE = 'There are no imports. Begin one with: urlwarden import FORMAT FILE\n';

function toRow({ id, feed, format, startedTs, outcome, counts, source }: ImportRecord) {
  const ended = outcome ?? 'not yet';
  return [id, feed, format, timeText(startedTs), ended, counts.read, counts.urlsAdded, counts.rejected, source];
}
