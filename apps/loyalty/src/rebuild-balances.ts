import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { log } from '@customer-platform/http';
import { type RebuiltSums, SumsRebuild } from './ledger/sums-rebuild.js';
import { SumsRebuildModule } from './ledger/sums-rebuild.module.js';

const HELP = `
Makes the balances of contacts and lots anew from the lines of the ledger. The service may run meanwhile.

  node apps/loyalty/dist/rebuild-balances.js [--organization ID]

Prints how many sums of each organization were wrong. DATABASE_URL names loyalty's database (role loyalty_app).
`;

async function rebuild(only: string | undefined): Promise<RebuiltSums[]> {
  log.level = 'silent'; // standard output is the command's answer
  const context = await NestFactory.createApplicationContext(SumsRebuildModule, {
    logger: false,
    abortOnError: false,
  });
  try {
    return await context.get(SumsRebuild).run(only);
  } finally {
    await context.close();
  }
}

const { values } = parseArgs({
  options: { organization: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
});
if (values.help) process.stdout.write(`${HELP.trim()}\n`);
else {
  const rebuilt = await rebuild(values.organization?.toLowerCase());
  for (const { organization_id: id, balances, lots } of rebuilt) {
    process.stdout.write(`${id}  ${String(balances)} balances and ${String(lots)} lots were wrong\n`);
  }
  process.stdout.write(`${String(rebuilt.length)} organizations\n`);
}
