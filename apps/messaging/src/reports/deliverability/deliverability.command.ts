import {
  EXIT,
  Option,
  organizationOption,
  withContext,
  type CommandGroup,
  type Given,
} from '@customer-platform/cli';

interface Values {
  organization?: string;
  from?: string;
  to?: string;
}

/** `platform deliverability recount`. */
export const deliverability = (): CommandGroup => ({
  name: 'deliverability',
  summary: 'the figures of what became of sends',
  commands: [
    {
      name: 'recount',
      summary: 'counts sends anew, of the last 30 days unless said otherwise',
      details: [
        'Prints how many counts of each organization were wrong. The service may run meanwhile; what happens at that',
        'moment may be among them. Needed once after the upgrade to the release that counts, for sends of before.',
      ].join(' '),
      options: [
        organizationOption('of this organization only'),
        new Option('--from <date>', 'first UTC date on which sends were created'),
        new Option('--to <date>', 'last UTC date, at most 92 days in all'),
      ],
      environment: { DATABASE_URL: 'the database of messaging, as messaging_app' },
      run: async ({ values, print }: Given<Values>) => {
        const { DeliverabilityRecountModule } = await import('./deliverability-recount.module.js');
        const { DeliverabilityRecount } = await import('./deliverability-recount.js');
        const recounted = await withContext(DeliverabilityRecountModule, (context) =>
          context.get(DeliverabilityRecount).run(values),
        );
        for (const each of recounted)
          print(each, `${each.organization_id}  ${String(each.counts)} counts were wrong`);
        print(undefined, `${String(recounted.length)} organizations`);
        return EXIT.done;
      },
    },
  ],
});
