import { randomUUID } from 'node:crypto';
import { eventually, expectStatus, totpCode } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP } from './visitor.fixture.js';

/** A code works once, and the next one comes with the next half minute. */
const NEXT_CODE_WITHIN_MS = 40_000;

const bench = consoleBench();

describe('one’s own second factor', () => {
  it('is set up with its codes kept, and asked for at the next sign-in', async () => {
    const person = await bench.staff(bench.tenant);
    const visitor = await bench.signedIn(person);
    const { page, dialog } = visitor;
    await visitor.open('account');
    await page.getByRole('button', { name: 'Configurar un segundo factor' }).click();
    await page.getByRole('button', { name: 'Continuar' }).click();
    await page.getByRole('img', { name: 'Código QR para la app autenticadora' }).waitFor();
    const secret = ((await dialog.locator('code').first().textContent()) ?? '').replaceAll(' ', '');
    const used = totpCode(secret);
    await page.getByLabel('Código de la app').fill(used);
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByText('Se muestran solo ahora').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Ya los guardé').check();
    await page.getByRole('button', { name: 'Listo' }).click();
    await page.getByText('Te quedan 10 códigos de recuperación').waitFor();
    await visitor.expectAccessible();
    await visitor.close();

    const again = await bench.visitor();
    await again.page.goto(`${bench.platform.url}/console/`);
    await again.giveCredentials(person);
    const field = again.page.locator('input[autocomplete="one-time-code"]');
    await field.waitFor();
    const next = await eventually(
      () => {
        const code = totpCode(secret);
        if (code === used) throw new Error('The code is still the former one');
        return code;
      },
      { within: NEXT_CODE_WITHIN_MS, every: 250 },
    );
    await field.fill(next);
    await again.page.locator('button').first().click();
    await again.page.waitForURL(/\/console\/o\//);
  });

  it('is all there is to see where the organization asks for one, until it is set up', async () => {
    const strict = await bench.platform.tenant();
    const person = await bench.staff(strict);
    const visitor = await bench.signedIn(person);
    const { page, dialog } = visitor;
    const settings = { mfa_policy: 'required' };
    await strict.admin.patch(`/v1/identity/organizations/${strict.id}`, { settings });
    // The first page asks for its figures again and again: the refusal says that something has changed.
    await visitor.isAt('Se requiere un segundo factor');
    expect(await page.getByRole('navigation').count()).toBe(0);
    await visitor.expectAccessible();
    await page.getByRole('button', { name: 'Configurar un segundo factor' }).click();
    await page.getByRole('button', { name: 'Continuar' }).click();
    const secret = ((await dialog.locator('code').first().textContent()) ?? '').replaceAll(' ', '');
    await page.getByLabel('Código de la app').fill(totpCode(secret));
    await page.getByRole('button', { name: 'Confirmar' }).click();
    await page.getByLabel('Ya los guardé').check();
    await page.getByRole('button', { name: 'Listo' }).click();
    await visitor.isAt(strict.slug);
  });
});

describe('how long things are kept', () => {
  it('is said with what it removes, saved, and taken back', async () => {
    const own = await bench.platform.tenant();
    const visitor = await bench.signedIn(await bench.staff(own));
    const { page } = visitor;
    const kept = async (): Promise<unknown> => {
      const { body } = await own.admin.get<{ settings: { retention: { events_days: number | null } } }>(
        `/v1/identity/organizations/${own.id}`,
      );
      return body.settings.retention.events_days;
    };
    await visitor.open('organization/retention');
    const events = page.getByLabel('Eventos', { exact: true });
    await events.fill('30');
    await page.getByText('Lo eliminado no se puede recuperar').waitFor();
    await visitor.expectAccessible();
    await page.getByRole('button', { name: 'Guardar' }).click();
    await page.getByText('Se guardaron los plazos de conservación').waitFor();
    expect(await kept()).toBe(30);
    await events.fill('');
    expect(await page.getByText('Lo eliminado no se puede recuperar').count()).toBe(0);
    await page.getByRole('button', { name: 'Guardar' }).click();
    await eventually(async () => expect(await kept()).toBeNull());
  });
});

describe('who may do what', () => {
  it('is a role that is changed, with what it gives said before, and the menu follows', async () => {
    const name = `Lectura ${randomUUID().slice(0, 8)} ${MARKUP}`;
    const visitor = await bench.ownerAt('organization/roles/new');
    const { page, dialog } = visitor;
    await page.getByLabel('Nombre').fill(name);
    await page.getByLabel('core.contacts.read', { exact: true }).check();
    await page.getByRole('button', { name: 'Crear rol con 1 permiso' }).click();
    await page.getByRole('heading', { name }).waitFor();

    const email = `${randomUUID()}@example.com`;
    await visitor.open('organization/invitations?create=true');
    await dialog.getByLabel('Correo', { exact: true }).fill(email);
    await dialog.getByLabel(name.slice(0, 16)).check();
    await dialog.getByLabel('Idioma del correo').selectOption('es');
    await page.getByRole('button', { name: 'Enviar invitación' }).click();
    await page.getByRole('cell', { name: email, exact: true }).waitFor();

    const guest = await bench.visitor();
    await guest.page.goto(await bench.invitationLink(email));
    await guest.page.getByLabel('Nombre').fill('Inés Invitada');
    await guest.page.getByLabel('Contraseña').fill(bench.owner.password);
    await guest.page.getByRole('button', { name: 'Aceptar la invitación' }).click();
    await guest.page.getByRole('button', { name: 'Iniciar sesión' }).waitFor();
    await guest.signIn({ email, name: 'Inés Invitada', password: bench.owner.password });
    await guest.menu.getByRole('link', { name: 'Contactos' }).waitFor();
    expect(await guest.menu.getByRole('link', { name: 'Organización' }).count()).toBe(0);

    await visitor.open('organization/people?q=In%C3%A9s');
    await page.getByRole('cell', { name: 'Inés Invitada' }).waitFor();
    await visitor.open('organization/roles');
    await page.getByRole('cell', { name: name.slice(0, 16) }).click();
    await page.getByLabel('core.contacts.read', { exact: true }).uncheck();
    await page.getByLabel('identity.users.read', { exact: true }).check();
    await page.getByText('Al guardar se quita un permiso:').waitFor();
    await page.getByText('+ identity.users.read').waitFor();
    await page.getByRole('button', { name: 'Guardar' }).click();
    await page.getByText('Se guardó el rol').first().waitFor();
    await guest.page.reload();
    await guest.menu.getByRole('link', { name: 'Organización' }).waitFor();
    expect(await guest.menu.getByRole('link', { name: 'Contactos' }).count()).toBe(0);
  });

  it('is explained for a person, and the last owner stays', async () => {
    const alone = await bench.platform.tenant();
    const visitor = await bench.signedIn(await bench.staff(alone));
    const { page } = visitor;
    await visitor.open('organization/people');
    await page.getByRole('cell', { name: 'Ana Rojas' }).click();
    await page.getByLabel('Permiso').fill('core.contacts.read');
    await page.getByRole('button', { name: 'Revisar' }).click();
    await page.getByText('Se lo dan estos roles:').waitFor();
    await page.getByRole('button', { name: 'Quitar el rol Owner' }).click();
    await page.getByText('Es la última persona propietaria activa').waitFor();
    await visitor.expectAccessible();
  });
});

describe('people', () => {
  it('are named on every page that has only their ids, by one call a page', async () => {
    const [nora, olga] = await Promise.all(
      ['Nora', 'Olga'].map(async (first_name) => bench.contact({ first_name, last_name: MARKUP })),
    );
    const ids = [nora?.id ?? '', olga?.id ?? ''];
    for (const contact_id of ids) {
      const points = { kind: 'adjust', contact_id, points: 5, reason: 'test' };
      const key = { 'Idempotency-Key': randomUUID() };
      expectStatus(await bench.tenant.admin.post('/v1/loyalty/transactions', points, key), 201);
      const request = { type: 'blocking', contact_id };
      expectStatus(await bench.tenant.admin.post('/v1/core/subject-requests', request), 202);
    }
    const visitor = await bench.ownerAt('loyalty');
    const { page, dialog } = visitor;
    const calls: string[] = [];
    page.on('request', (request) => {
      if (/\/v1\/core\/contacts[?/]/.test(request.url())) calls.push(request.url());
    });
    const isNamed = async (path: string): Promise<void> => {
      // What the page before still asks for is not counted.
      await visitor.settled();
      calls.length = 0;
      await visitor.open(path);
      for (const name of ['Nora', 'Olga']) await visitor.row(name).first().waitFor();
      await visitor.settled();
      expect([path, calls.length]).toEqual([path, 1]);
      const shown = await page.locator('main').innerText();
      expect(ids.filter((id) => shown.includes(id))).toEqual([]);
      await visitor.expectUnbroken();
    };
    await isNamed('loyalty');
    await isNamed('privacy');
    await eventually(async () => {
      const query = `resource_type=contacts&resource_id=${ids[1] ?? ''}`;
      const { body } = await bench.tenant.admin.get<{ data: object[] }>(`/v1/core/audit-log?${query}`);
      expect(body.data.length).toBeGreaterThan(0);
    });
    await isNamed('audit?resource_type=contacts');
    await visitor.open(`loyalty?contact_id=${nora?.id ?? ''}`);
    await page
      .getByRole('button', { name: /Nora/ })
      .getByText(nora?.email ?? '')
      .waitFor();
    await page.getByRole('button', { name: 'Ajustar puntos' }).click();
    await dialog.getByText('Nora').waitFor();
    await visitor.expectAccessible();
  });
});

describe('the pages of the organization', () => {
  itHasNothingToStumbleOver(bench, () =>
    ['', '/people', '/invitations', '/roles', '/roles/new', '/children', '/clients', '/sso', '/sessions'].map(
      (part) => `organization${part}`,
    ),
  );

  it('show a client’s secret once, and take an address more', async () => {
    const visitor = await bench.ownerAt('organization/clients?create=true');
    const { page, dialog } = visitor;
    await dialog.getByLabel('Nombre').fill(`App ${MARKUP}`);
    await dialog.getByLabel('URI de redirección').fill('https://app.example/cb');
    await dialog.getByRole('button', { name: 'Registrar cliente' }).click();
    const secret = await dialog.getByRole('region', { name: 'Secreto del cliente' }).textContent();
    expect(secret?.length).toBeGreaterThan(20);
    await page.getByRole('button', { name: 'Ya lo copié' }).click();
    await page.getByRole('cell', { name: 'App' }).first().click();
    await dialog.getByLabel('URI de redirección').fill('https://app.example/cb\nhttps://app.example/b');
    await dialog.getByRole('button', { name: 'Guardar' }).click();
    await page.getByText('Se guardó el cliente').first().waitFor();
    expect(await page.getByText(secret ?? '-', { exact: true }).count()).toBe(0);
  });
});
