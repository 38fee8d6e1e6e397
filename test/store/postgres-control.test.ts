import { postgresControl } from '../postgres-control.ts';
import { controlContract } from './contract/control.ts';

controlContract(postgresControl);
