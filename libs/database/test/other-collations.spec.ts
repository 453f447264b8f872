import { jest } from '@jest/globals';
import { Module } from '@nestjs/common';
import { AuthorizationModule } from '@customer-platform/authorization';
import { log } from '@customer-platform/http';
import { startTestApp } from '@customer-platform/testing';
import { DatabaseModule } from '../src/index.js';
import { tellOfOtherCollations } from '../src/lists/other-collations.js';
import { aWidgetWorld, WIDGET_MIGRATIONS, type WidgetWorld } from './widgets.fixture.js';

@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'crm', entities: [], migrations: WIDGET_MIGRATIONS }),
    AuthorizationModule.forRoot({ module: 'crm' }),
  ],
})
class SortingModule {}

let world: WidgetWorld;
beforeEach(async () => {
  world = await aWidgetWorld();
});
afterEach(() => world.close());

/** The collations that the log warns of. */
async function warnedOf(): Promise<unknown[]> {
  const warned = jest.spyOn(log, 'warn');
  try {
    await tellOfOtherCollations(world.database);
    return warned.mock.calls.map(([context]) => context);
  } finally {
    warned.mockRestore();
  }
}

describe('collations of another version than their indexes', () => {
  it('are named in the log', async () => {
    expect(await warnedOf()).toEqual([]);
    await world.test.query(`UPDATE pg_collation SET collversion = '1.0' WHERE collname = 'text_es'`);
    expect(await warnedOf()).toEqual([{ collations: ['text_es'] }]);
    await world.test.query('ALTER COLLATION text_es REFRESH VERSION');
    expect(await warnedOf()).toEqual([]);
  });

  it('include the order of the database itself', async () => {
    await world.test.query(`UPDATE pg_database SET datcollversion = '0' WHERE datname = current_database()`);
    expect(await warnedOf()).toEqual([{ collations: ['the order of the database'] }]);
  });

  it('are counted by every module that starts', async () => {
    await world.test.query(`UPDATE pg_collation SET collversion = '1.0' WHERE collname LIKE 'text\\_%'`);
    const app = await startTestApp({ module: 'crm', root: SortingModule, database: world.test });
    try {
      const metrics = await (await fetch(`${app.url}/metrics`)).text();
      expect(metrics).toMatch(/^database_collations_of_other_version 2$/m);
    } finally {
      await app.close();
    }
  });
});
