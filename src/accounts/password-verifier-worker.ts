import { constants, setPriority } from 'node:os';
import { serveTasks } from '../threads/worker-thread.ts';
import { verifyPasswordSync } from './passwords.ts';

export type PasswordTasks = { verify: typeof verifyPasswordSync };

// On Linux 0 means the calling thread (setpriority(2), "C library/kernel differences"); elsewhere the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);

serveTasks(() => ({ tasks: { verify: verifyPasswordSync } satisfies PasswordTasks }));
