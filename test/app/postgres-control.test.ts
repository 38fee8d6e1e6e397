import { postgresControl } from '../postgres-control.ts';
import { controlContract } from './control-contract.ts';

controlContract(postgresControl);
