import 'reflect-metadata';
import { parseArgs } from 'node:util';
import { NestFactory } from '@nestjs/core';
import { log } from '@customer-platform/http';
import { AuditInspectionModule } from './audit-log/audit-inspection.module.js';
import { AuditInspection, type InspectedChain, type Inspection } from './audit-log/audit-inspection.js';

const HELP = `
Verifies the audit logs: every row against its hash, every hash against the one before it, every chain against its
signed checkpoints, those in the database and those kept outside it, on the topic audit.checkpoints.

  node apps/core/dist/verify-audit.js [--organization ID] [--json]

Ends with 0 when all is intact, with 1 when a log was tampered with, with 2 when that could not be found out.
DATABASE_URL names core's database (role core_app), KAFKA_BROKERS the brokers; ENCRYPTION_KEY is core's.
`;

const MEANINGS: Record<NonNullable<InspectedChain['damage']>, string> = {
  row_altered: 'the row is not what its hash says',
  link_broken: 'the row does not follow from the one before it',
  row_missing: 'the row is missing',
  checkpoint_contradicted: 'a signed checkpoint says otherwise',
  checkpoint_forged: 'the checkpoint is not signed by a key of this service',
  head_contradicted: 'the chain does not end where it is known to end',
};

async function inspect(only: string | undefined): Promise<Inspection> {
  log.level = 'silent'; // standard output is the command's answer
  const context = await NestFactory.createApplicationContext(AuditInspectionModule, {
    logger: false,
    abortOnError: false,
  });
  try {
    return await context.get(AuditInspection).run(only);
  } finally {
    await context.close();
  }
}

function lineOf(chain: InspectedChain): string {
  const { organization_id: id, rows, checkpoints, broken_at_seq: at, damage } = chain;
  if (damage === null) return `intact  ${id}  ${String(rows)} rows, ${String(checkpoints)} checkpoints`;
  return `BROKEN  ${id}  at row ${String(at)}: ${MEANINGS[damage]}`;
}

function reportOf({ chains, unreadable }: Inspection): string {
  const broken = chains.filter(({ status }) => status === 'broken').length;
  return [
    ...chains.map(lineOf),
    ...(unreadable > 0 ? [`${String(unreadable)} records of audit.checkpoints are no checkpoints`] : []),
    `${String(chains.length)} audit logs, ${String(broken)} broken`,
  ].join('\n');
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      organization: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(`${HELP.trim()}\n`);
    return 0;
  }
  const inspection = await inspect(values.organization?.toLowerCase());
  process.stdout.write(`${values.json ? JSON.stringify(inspection) : reportOf(inspection)}\n`);
  const tampered = inspection.unreadable > 0 || inspection.chains.some(({ status }) => status === 'broken');
  return tampered ? 1 : 0;
}

process.exitCode = await main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return 2;
});
