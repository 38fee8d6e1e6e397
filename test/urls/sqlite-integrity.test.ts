import { integrityContract } from './contract/integrity.ts';
import { openSqliteTables } from './tables.ts';

integrityContract(openSqliteTables);
