import { Database } from '@customer-platform/database';
import { messagingWorld, template, type MessagingWorld } from '../../messaging.fixture.js';
import { TemplateVersions, versionKey } from './template-versions.js';

let world: MessagingWorld;
beforeAll(async () => {
  world = await messagingWorld({ consume: false });
});
afterAll(() => world.close());

describe('versions of templates', () => {
  it('are read in the languages that are wished for, and in their own', async () => {
    const { id: organizationId, api } = world.organization();
    const text = (subject: string) => ({ subject, html: '<p>x</p>' });
    const templateId = await template(api, {
      default_locale: 'es',
      locales: { es: text('es'), 'pt-BR': text('pt-BR'), pt: text('pt'), en: text('en'), fr: text('fr') },
    });
    const versions = world.app.app.get(TemplateVersions, { strict: false });
    const database = world.app.app.get(Database, { strict: false });
    const read = (wishes: (string | null)[]): Promise<string[]> =>
      database.inOrganization({ organizationId }, async (tx) => {
        const found = await versions.inLocales(tx, [{ organizationId, templateId, version: 1, wishes }]);
        return Object.keys(found.get(versionKey(organizationId, templateId, 1))?.parts ?? {}).sort();
      });
    expect(await read([])).toEqual(['es']);
    expect(await read([null, 'de'])).toEqual(['es']);
    expect(await read(['PT-br'])).toEqual(['es', 'pt', 'pt-BR']);
    expect(await read(['en-US', 'fr'])).toEqual(['en', 'es', 'fr']);
    const heads = await database.inOrganization({ organizationId }, (tx) =>
      versions.heads(tx, [{ organizationId, templateId, version: 1 }]),
    );
    expect([...heads.values()]).toEqual([
      {
        templateId,
        version: 1,
        channel: 'email',
        defaultLocale: 'es',
        variables: {},
        strict: true,
        byReader: true,
      },
    ]);
  });
});
