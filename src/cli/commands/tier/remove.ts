import { removeTier } from '../../../accounts/tiers.ts';
import { controlCommand } from '../../data-command.ts';

export const tierRemove = controlCommand(
  {
    synopsis: 'tier remove NAME',
    about: 'Removes one of your own tiers. One that an account still has stays.\n',
    operands: ['NAME'],
  },
  async (control, { operands: [name = ''] }) => {
    await removeTier(control, name);
    return { text: `Removed the tier ${name}.\n`, json: { name } };
  },
);
