/** Makes each module's roles and database: `DATABASE_URL` (an administrator's), `DATABASE_PASSWORDS` (JSON). */
import { provisionDatabase } from '@customer-platform/database';
import { MODULES, type ModuleName } from './modules.ts';

const adminUrl = process.env['DATABASE_URL'] ?? '';
const passwords = JSON.parse(process.env['DATABASE_PASSWORDS'] ?? '{}') as Record<
  ModuleName,
  { owner: string; app: string }
>;
for (const module of MODULES) {
  const { owner, app } = passwords[module];
  await provisionDatabase({ adminUrl, module, ownerPassword: owner, appPassword: app });
}
