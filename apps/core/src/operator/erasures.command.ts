import {
  EXIT,
  InvalidArgumentError,
  Option,
  withContext,
  type CommandGroup,
  type Given,
} from '@customer-platform/cli';
import type { ErasingModule } from '@customer-platform/erasure';
import { ASKED, ErasuresAgain } from './erasures-again.js';
import { ErasuresModule } from './erasures.module.js';

interface Chosen {
  module?: ErasingModule;
  since?: Date;
}

/** `platform erasures ask-again`. */
export const erasures = (): CommandGroup => ({
  name: 'erasures',
  summary: 'erasures of persons',
  commands: [
    {
      name: 'ask-again',
      summary: 'asks the other modules again to erase those whom they were asked to erase',
      details:
        'For a module that was restored from a backup in which erased persons are there still. Each module that has\n' +
        'erased answers with the receipt it gave; one that has lost it erases again. Receipts that are verified stand,\n' +
        'completed requests stay completed. Repeatable. core must run as worker, or what is asked waits in its outbox.\n' +
        'The JSON is {"asked"}: how many erasures.',
      options: [
        new Option(
          '--since <time>',
          'those that were carried out since then, or not yet; all unless given',
        ).argParser(readTime),
        new Option('--module <name>', 'those that this module carried out since, or has not yet').choices(
          ASKED,
        ),
      ],
      environment: { DATABASE_URL: 'the database of core, as core_app; it must be migrated' },
      run: async ({ values: { module, since }, print }: Given<Chosen>) => {
        const modules = module === undefined ? ASKED : [module];
        const asked = await withContext(ErasuresModule, (context) =>
          context.get(ErasuresAgain).ask({ modules, since }),
        );
        print({ asked }, `Asked for ${String(asked)} erasures again`);
        return EXIT.done;
      },
    },
  ],
});

/** ISO 8601 with its offset: a time of the operator's own clock would be another one on the server. */
function readTime(text: string): Date {
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/.test(text);
  const time = new Date(isWhole ? text : Number.NaN);
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('It takes a time with its offset, such as 2026-11-21T09:30:00Z.');
  return time;
}
