import { EXIT, organizationOption, withContext, type CommandGroup, type Given } from '@customer-platform/cli';
import { SumsRebuild } from './sums-rebuild.js';
import { SumsRebuildModule } from './sums-rebuild.module.js';

/** `platform balances rebuild`. */
export const balances = (): CommandGroup => ({
  name: 'balances',
  summary: 'the sums of the ledger',
  commands: [
    {
      name: 'rebuild',
      summary: 'makes the balances of contacts and lots anew from the lines of the ledger',
      details: 'Prints how many sums of each organization were wrong. The service may run meanwhile.',
      options: [organizationOption('of this organization only')],
      environment: { DATABASE_URL: 'the database of loyalty, as loyalty_app' },
      run: async ({ values: { organization }, print }: Given<{ organization?: string }>) => {
        const rebuilt = await withContext(SumsRebuildModule, (context) =>
          context.get(SumsRebuild).run(organization),
        );
        for (const each of rebuilt) {
          const { organization_id: id, balances: wrong, lots, earned } = each;
          const sums = `${String(wrong)} balances, ${String(lots)} lots and ${String(earned)} sums of rules`;
          print(each, `${id}  ${sums} were wrong`);
        }
        print(undefined, `${String(rebuilt.length)} organizations`);
        return EXIT.done;
      },
    },
  ],
});
