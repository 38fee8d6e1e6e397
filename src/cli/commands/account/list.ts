import { controlCommand } from '../../data-command.ts';
import { accountJson } from '../../present-account.ts';
import { table, timeText } from '../../table.ts';

export const accountList = controlCommand(
  {
    synopsis: 'account list',
    about: 'Lists all accounts by username.\n',
  },
  async (control) => {
    const accounts = await control.accounts();
    const rows = accounts.map(({ username, sub, tier, isEnabled, createdTs }) => [
      username,
      sub,
      tier,
      isEnabled ? 'enabled' : 'disabled',
      timeText(createdTs),
    ]);
    const text = rows.length > 0 ? table(['USERNAME', 'SUB', 'TIER', 'STATE', 'CREATED'], rows) : NONE;
    return { text, json: accounts.map(accountJson) };
  },
);

const NONE = 'There are no accounts. Add one with: urlwarden account add USERNAME\n';
