import { lowerPriority, serveTasks } from '../threads/worker-thread.ts';
import { verifyPasswordSync } from './passwords.ts';

export type PasswordTasks = { verify: typeof verifyPasswordSync };

lowerPriority();
serveTasks(() => ({ tasks: { verify: verifyPasswordSync } satisfies PasswordTasks }));
