import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@customer-platform/testing';
import { consoleBench } from './console.fixture.js';
import { TaskWalk } from './task-walk.fixture.js';
import { EVENT, prepareShop, purchase } from './shop.fixture.js';

const bench = consoleBench();

/** Results of all tasks, printed once at the end. */
const counts: { task: string; clicks: number; most: number }[] = [];
afterAll(() => {
  const lines = counts.map(({ task, clicks, most }) => `${task}: ${clicks} of at most ${most}`);
  process.stdout.write(`${['Clicks by task', ...lines].join('\n  ')}\n`);
});

/** A task that begins at Home and takes no more clicks than a person bears. */
function itTakes(most: number, task: string, does: (walk: TaskWalk) => Promise<void>): void {
  it(`${task} takes at most ${most} clicks`, async () => {
    const walk = new TaskWalk(await bench.signedIn(bench.owner));
    await does(walk);
    counts.push({ task, clicks: walk.clicks, most });
    expect(walk.clicks).toBeLessThanOrEqual(most);
  });
}

describe('tasks of support', () => {
  itTakes(3, 'following an event to its chain', async (walk) => {
    await prepareShop(bench);
    const { externalId } = await bench.contact();
    await walk.click(walk.visitor.menu.getByRole('link', { name: 'Eventos en vivo' }));
    await walk.visitor.isAt('Eventos en vivo');
    await purchase(bench, externalId);
    await walk.click(walk.visitor.row(externalId));
    await walk.click(walk.page.getByRole('link', { name: 'Ver la cadena completa' }));
    await walk.page.getByRole('button', { name: EVENT, expanded: true }).waitFor();
    await walk.page.getByText('12.990 CLP, B-1001').first().waitFor();
  });

  itTakes(1, 'finding a contact by a phone number as people write it', async (walk) => {
    const number = `98765${String(Date.now()).slice(-4)}`;
    const first_name = `Rosa${randomUUID().slice(0, 8)}`;
    await bench.contact({ first_name, phone: `+56${number}` });
    await walk.find(`${number[0]} ${number.slice(1, 5)} ${number.slice(5)}`, first_name);
    await walk.visitor.isAt(first_name);
  });

  itTakes(1, 'finding a contact by a RUT as people write it', async (walk) => {
    const first_name = `Rosa${randomUUID().slice(0, 8)}`;
    await bench.contact({ first_name, national_id: { type: 'CL_RUT', value: '12345678-5' } });
    await walk.find('12.345.678-5', first_name);
    await walk.visitor.isAt(first_name);
  });

  itTakes(1, 'finding a contact by part of a name', async (walk) => {
    const last_name = `Núñez${randomUUID().slice(0, 8)}`;
    await bench.contact({ first_name: 'Rosa', last_name });
    await walk.find(`ros ${last_name.slice(0, 10).replaceAll('ú', 'u')}`, `Rosa ${last_name}`);
    await walk.visitor.isAt(`Rosa ${last_name}`);
  });

  itTakes(5, 'merging two contacts and taking it back', async (walk) => {
    const [one, other] = [await bench.contact(), await bench.contact()];
    await walk.find(one.externalId, one.email);
    await walk.click(walk.page.getByRole('link', { name: 'Fusionar' }));
    await walk.page.getByRole('searchbox').fill(other.externalId);
    await walk.click(walk.page.getByRole('button', { name: other.email }));
    await walk.click(walk.page.getByRole('button', { name: 'Fusionar', exact: true }));
    await walk.click(walk.page.getByRole('button', { name: 'Deshacer' }));
    await walk.page.getByText('Fusión deshecha').first().waitFor();
  });

  itTakes(5, 'adjusting points', async (walk) => {
    const { externalId, email } = await bench.contact();
    await walk.find(externalId, email);
    await walk.click(walk.page.getByRole('button', { name: 'Ajustar puntos' }));
    await walk.dialog.getByLabel('Puntos', { exact: true }).fill('25');
    await walk.dialog.getByLabel('Motivo').fill('Reclamo');
    await walk.click(walk.dialog.getByRole('button', { name: 'Ajustar puntos' }));
    await walk.page.getByText('+25').first().waitFor();
  });

  itTakes(7, 'an access request and an erasure', async (walk) => {
    const { externalId, email } = await bench.contact();
    const request = async (act: string, send: string): Promise<void> => {
      await walk.find(act, act);
      await walk.dialog.getByRole('searchbox').fill(externalId);
      await walk.click(walk.dialog.getByRole('button', { name: email }));
      await walk.dialog.getByLabel('Cómo verificaste a la persona').fill('presencial');
      const sure = walk.dialog.getByLabel('Entiendo que');
      if ((await sure.count()) > 0) await walk.click(sure);
      await walk.click(walk.dialog.getByRole('button', { name: send }));
    };
    await request('Registrar una solicitud de acceso', 'Crear solicitud');
    await walk.page.getByRole('dialog', { name: 'Solicitud de acceso' }).waitFor();
    await walk.page.keyboard.press('Escape');
    await walk.dialog.waitFor({ state: 'hidden' });
    await request('Registrar una solicitud de supresión', 'Verificar y borrar');
    await walk.dialog.getByText('Recibos').first().waitFor();
  });
});

describe('tasks of administrators', () => {
  itTakes(6, 'inviting a person with a role', async (walk) => {
    const email = `${randomUUID()}@example.com`;
    await walk.find('invitar', 'Invitar a una persona');
    await walk.dialog.getByLabel('Correo', { exact: true }).fill(email);
    await walk.click(walk.dialog.getByRole('checkbox').first());
    await walk.click(walk.dialog.getByRole('button', { name: 'Enviar invitación' }));
    await walk.visitor.row(email).waitFor();
  });

  itTakes(6, 'making a key and revoking it', async (walk) => {
    const name = `Tienda ${randomUUID().slice(0, 8)}`;
    await walk.find('crear clave', 'Crear una clave de API');
    await walk.dialog.getByLabel('Nombre', { exact: true }).fill(name);
    await walk.dialog.getByText('core.events.write').first().waitFor();
    await walk.click(walk.dialog.getByRole('button', { name: 'Crear clave' }));
    await walk.click(walk.dialog.getByRole('button', { name: 'Ya lo copié' }));
    await walk.click(walk.visitor.row(name).getByRole('button', { name: 'Revocar' }));
    await walk.click(walk.dialog.getByRole('button', { name: 'Revocar' }));
    await walk.visitor.row(name).filter({ hasText: 'revocada' }).waitFor();
  });

  itTakes(12, 'an object whose records refer to contacts', async (walk) => {
    const { externalId, email } = await bench.contact();
    const name = `Póliza ${randomUUID().slice(0, 8)}`;
    await walk.find('crear objeto', 'Crear un objeto');
    await walk.dialog.getByLabel('Nombre', { exact: true }).fill(name);
    await walk.click(walk.dialog.getByRole('button', { name: 'Agregar un campo' }));
    await walk.dialog.getByLabel('Nombre del campo').fill('Titular');
    await walk.choose(walk.dialog.getByLabel('Tipo', { exact: true }), 'reference');
    await walk.click(walk.dialog.getByRole('button', { name: 'Crear definición' }));
    await walk.page.getByRole('dialog', { name, exact: true }).waitFor();
    await walk.page.keyboard.press('Escape');
    await walk.dialog.waitFor({ state: 'hidden' });
    await walk.find(name, name);
    await walk.visitor.isAt(name);
    await walk.click(walk.page.getByRole('button', { name: 'Nuevo registro' }));
    await walk.dialog.getByRole('searchbox').fill(externalId);
    await walk.click(walk.dialog.getByRole('button', { name: email }));
    await walk.click(walk.dialog.getByRole('button', { name: 'Crear registro' }));
    await walk.visitor.row(email).first().waitFor();
  });

  itTakes(7, 'a channel and its sender domain', async (walk) => {
    const domain = `${randomUUID().slice(0, 8)}.example.com`;
    await walk.find('configurar canal correo', 'Configurar el canal de correo');
    await walk.dialog.getByLabel('Servidor').fill('smtp.example.com');
    await walk.dialog.getByLabel('Remitente').fill(`hola@${domain}`);
    await walk.click(walk.dialog.getByRole('button', { name: 'Guardar canal' }));
    await walk.dialog.waitFor({ state: 'hidden' });
    await walk.find('agregar dominio', 'Agregar un dominio de envío');
    await walk.dialog.getByLabel('Dominio', { exact: true }).fill(domain);
    await walk.click(walk.dialog.getByRole('button', { name: 'Agregar dominio' }));
    await walk.dialog.getByText('TXT').first().waitFor();
  });

  itTakes(3, 'who lifted a suppression', async (walk) => {
    const address = `${randomUUID()}@example.com`;
    await bench.made('/v1/messaging/suppressions', { channel: 'email', address, reason: 'manual' });
    const lifting = await bench.ownerAt(`messages/suppressions?address=${address}`);
    await lifting.row(address).getByRole('button', { name: 'Quitar' }).click();
    await lifting.dialog.getByRole('button', { name: 'Quitar' }).click();
    await lifting.page.getByText('puede recibir mensajes otra vez').first().waitFor();
    await walk.find('supresiones', 'Supresiones');
    await walk.choose(walk.page.getByLabel('Mostrar'), 'lifted');
    await walk.visitor.row(address).filter({ hasText: 'Ana Rojas' }).waitFor();
  });
});

describe('tasks of marketing and developers', () => {
  itTakes(6, 'importing a file with bad rows', async (walk) => {
    const email = `${randomUUID()}@example.com`;
    const file = Buffer.from(`Correo;Nombre\n${email};Ana\nno address;Eva\n`);
    await walk.find('importar', 'Importar contactos');
    await walk.choose(walk.dialog.getByLabel('Archivo', { exact: true }), {
      name: 'a.csv',
      mimeType: 'text/csv',
      buffer: file,
    });
    await walk.click(walk.dialog.getByRole('button', { name: 'Probar sin importar' }));
    await walk.dialog.getByText('invalid_format').first().waitFor();
    await walk.click(walk.dialog.getByRole('button', { name: 'Importar', exact: true }));
    await walk.dialog.getByText('completada').first().waitFor();
    await walk.dialog.getByText('invalid_format').first().waitFor();
  });

  describe('with an endpoint of a shop', () => {
    let server: Server;
    const heard: string[] = [];
    beforeAll(async () => {
      server = createServer((request, response) => {
        heard.push(String(request.headers['webhook-id']));
        request.resume().on('end', () => response.writeHead(204).end());
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => new Promise((resolve) => server.close(resolve)));

    itTakes(8, 'a webhook and a redelivery', async (walk) => {
      const name = `Bodega ${randomUUID().slice(0, 8)}`;
      const { port } = server.address() as AddressInfo;
      await walk.find('agregar webhook', 'Agregar un endpoint de webhook');
      await walk.dialog.getByLabel('Nombre', { exact: true }).fill(name);
      await walk.dialog.getByLabel('URL').fill(`http://127.0.0.1:${port}/hook`);
      await walk.dialog.getByLabel('Buscar un evento').fill('event.recorded');
      await walk.click(walk.dialog.getByLabel('core.event.recorded'));
      await walk.click(walk.dialog.getByRole('button', { name: 'Agregar endpoint' }));
      await walk.click(walk.dialog.getByRole('button', { name: 'Ya lo copié' }));
      await bench.track('order_placed', `customer-${randomUUID()}`);
      await eventually(() => expect(heard.length).toBeGreaterThan(0));
      await walk.click(walk.visitor.row(name));
      await walk.click(walk.dialog.locator('summary').first());
      await walk.click(walk.dialog.getByRole('button', { name: 'Reenviar', exact: true }));
      await eventually(() => expect(heard.length).toBeGreaterThan(1));
      expect(new Set(heard).size).toBe(1);
    });
  });
});
