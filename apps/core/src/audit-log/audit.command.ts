import { EXIT, organizationOption, withContext, type CommandGroup, type Given } from '@customer-platform/cli';
import { AuditInspectionModule } from './audit-inspection.module.js';
import { AuditInspection, type InspectedChain, type Inspection } from './audit-inspection.js';

const MEANINGS: Record<NonNullable<InspectedChain['damage']>, string> = {
  row_altered: 'the row is not what its hash says',
  link_broken: 'the row does not follow from the one before it',
  row_missing: 'the row is missing',
  checkpoint_contradicted: 'a signed checkpoint says otherwise',
  checkpoint_forged: 'the checkpoint is not signed by a key of this service',
  head_contradicted: 'the chain does not end where it is known to end',
};

/** `platform audit verify`. */
export const audit = (): CommandGroup => ({
  name: 'audit',
  summary: 'the audit logs of all modules',
  commands: [
    {
      name: 'verify',
      summary: 'verifies the audit logs',
      details:
        'Every row against its hash, every hash against the one before it, every chain against its signed checkpoints,\n' +
        'those in the database and those kept outside it, on the topic audit.checkpoints.',
      options: [organizationOption('the log of this organization only')],
      environment: {
        DATABASE_URL: 'the database of core, as core_app',
        KAFKA_BROKERS: 'the brokers',
        ENCRYPTION_KEY: 'of core',
        ENCRYPTION_KEYS: 'of core',
      },
      found: 'a log was tampered with',
      run: async ({ values: { organization }, print }: Given<{ organization?: string }>) => {
        const inspection = await withContext(AuditInspectionModule, (context) =>
          context.get(AuditInspection).run(organization),
        );
        print(inspection, reportOf(inspection));
        const tampered = inspection.unreadable > 0 || inspection.chains.some(isBroken);
        return tampered ? EXIT.found : EXIT.done;
      },
    },
  ],
});

const isBroken = ({ status }: InspectedChain): boolean => status === 'broken';

function lineOf(chain: InspectedChain): string {
  const { organization_id: id, rows, checkpoints, broken_at_seq: at, damage } = chain;
  if (damage === null) return `intact  ${id}  ${String(rows)} rows, ${String(checkpoints)} checkpoints`;
  return `BROKEN  ${id}  at row ${String(at)}: ${MEANINGS[damage]}`;
}

function reportOf({ chains, unreadable }: Inspection): string {
  return [
    ...chains.map(lineOf),
    ...(unreadable > 0 ? [`${String(unreadable)} records of audit.checkpoints are no checkpoints`] : []),
    `${String(chains.length)} audit logs, ${String(chains.filter(isBroken).length)} broken`,
  ].join('\n');
}
