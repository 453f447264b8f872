import { randomUUID } from 'node:crypto';
import { eventually, expectStatus } from '@customer-platform/testing';
import { consoleBench, itHasNothingToStumbleOver } from './console.fixture.js';
import { MARKUP } from './visitor.fixture.js';

const SECRET = 'a-token-that-nobody-reads-again';

const bench = consoleBench();

describe('segments', () => {
  it('are built, counted while they are built, entered, explained, deleted and taken back', async () => {
    const { externalId } = await bench.contact({ first_name: MARKUP, attributes: { plan: 'pro' } });
    await bench.contact({ first_name: MARKUP, attributes: { plan: 'free' } });
    const name = `Pro ${externalId} ${MARKUP}`;
    const visitor = await bench.ownerBackAt('segments/new');
    const { page } = visitor;
    await page.getByLabel('Nombre').fill(name);
    await page.getByRole('button', { name: 'Atributo', exact: true }).click();
    await page.getByLabel('Atributo o campo').fill('attributes.plan');
    await page.getByLabel('Valor', { exact: true }).fill('pro');
    await page.getByText('Conteo exacto.').waitFor();
    await page.getByRole('button', { name: 'Crear segmento' }).click();
    await visitor.isAt(name);
    await eventually(async () => {
      await page.reload();
      await page.getByText(externalId).first().waitFor({ timeout: 3_000 });
    });
    await page.getByLabel('Contacto', { exact: true }).fill(externalId);
    await page.getByRole('button', { name: 'Explicar' }).click();
    await page.getByText('se cumple').first().waitFor();
    await visitor.expectUnbroken();
    await page.getByRole('button', { name: 'Eliminar' }).click();
    await page.getByRole('button', { name: 'Deshacer' }).click();
    await page.getByText('Se restauró').first().waitFor();
  });
});

describe('numbers', () => {
  it('are read as the language of the page writes them, and none becomes another', async () => {
    const visitor = await bench.ownerBackAt('segments/new');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Atributo', exact: true }).click();
    await page.getByLabel('Atributo o campo').fill('attributes.spent');
    await page.getByLabel('Comparación', { exact: true }).selectOption('gt');
    await page.getByLabel('Valor', { exact: true }).fill('10.000');
    await page.getByText('Se lee como 10.000.').waitFor();
    const json = page.getByLabel('La regla como JSON');
    expect(JSON.parse(await json.inputValue())).toMatchObject({ all: [{ op: 'gt', value: 10_000 }] });
    await page.getByLabel('Valor', { exact: true }).fill('diez');
    await page.getByText('10 va antes que 9').waitFor();
    await visitor.expectAccessible();
    const before = await json.inputValue();
    await json.fill(before.replace('"diez"', '9007199254740993'));
    await page.getByText('9007199254740993 es demasiado grande').waitFor();
    expect(await page.getByLabel('Valor', { exact: true }).inputValue()).toBe('diez');
    await page.getByLabel('Comparación', { exact: true }).selectOption('within_last');
    const amount = page.getByLabel('Valor', { exact: true });
    await amount.fill('1.000');
    await page.getByText('Se lee como 1.000.').waitFor();
    await amount.fill('1,5');
    await page.getByText('Escribe un número entero.').waitFor();
    await visitor.expectAccessible();
  });
});

describe('messages', () => {
  it('are written, previewed, sent for an event, and read with their states', async () => {
    const event = `order_${randomUUID().slice(0, 8)}`;
    const name = `Recibo ${event} ${MARKUP}`;
    const visitor = await bench.ownerBackAt('messages/templates/new');
    const { page, dialog } = visitor;
    await page.getByLabel('Nombre').fill(name);
    await page.getByLabel('Asunto').fill('Recibo {{ event.properties.number }}');
    await page.getByLabel('HTML').fill(`<p>Gracias</p><script>top.hacked=1</script>`);
    await page.getByRole('button', { name: 'Crear plantilla' }).click();
    await visitor.isAt(name);
    await page.getByRole('button', { name: 'Publicar la versión 1' }).click();
    await dialog.getByRole('button', { name: 'Publicar esta versión' }).click();
    await page.getByText('La versión 1 está publicada').first().waitFor();

    await visitor.open('messages/routing?open=new');
    await dialog.getByLabel('Nombre', { exact: true }).fill(`Enviar ${name}`);
    await dialog.getByLabel('Nombre del evento').fill(event);
    await dialog.getByRole('button', { name: 'Agregar condición' }).click();
    await dialog.getByLabel('Ruta', { exact: true }).fill('plan');
    await dialog.getByLabel('Valor', { exact: true }).fill('web');
    await dialog.getByLabel('Plantilla').selectOption({ label: name });
    await dialog.getByRole('button', { name: 'Crear regla' }).click();
    // The API says what is wrong, at the field; what was written stays.
    await dialog.getByText('Expected a path').first().waitFor();
    await dialog.getByLabel('Ruta', { exact: true }).fill('event.properties.shop');
    await dialog.getByRole('button', { name: 'Crear regla' }).click();
    await dialog.getByRole('heading', { name: `Enviar ${name}` }).waitFor();

    const { externalId, email } = await bench.contact({ first_name: MARKUP });
    // A rule that was made this moment is not yet known to what routes.
    await eventually(async () => {
      await bench.track(event, externalId, { shop: 'web', number: MARKUP });
      await visitor.open(`messages?address=${email}`);
      await visitor.row('enviado').first().waitFor({ timeout: 4_000 });
    });
    await visitor.row('enviado').first().click();
    await dialog.getByText('enviando').first().waitFor();
    await visitor.expectUnbroken();
    await dialog.getByRole('link', { name: 'una regla' }).click();
    await dialog.getByRole('switch').click();
    await dialog.getByText('Inactiva').waitFor();
  });

  it('to who is suppressed are not sent, and say why', async () => {
    const { id, email } = await bench.contact({ first_name: MARKUP });
    const visitor = await bench.ownerBackAt('messages/suppressions');
    const { page, dialog } = visitor;
    await page.getByRole('button', { name: 'Suprimir dirección' }).click();
    await dialog.getByLabel('dirección', { exact: true }).fill(email);
    await dialog.getByLabel('Nota').fill(MARKUP);
    await dialog.getByRole('button', { name: 'Suprimir dirección' }).click();
    await page.getByRole('cell', { name: email }).waitFor();
    const send = { channel: 'email', recipient: { contact_id: id }, content: { subject: 'A', text: MARKUP } };
    const key = { 'Idempotency-Key': randomUUID() };
    const answer = await bench.tenant.admin.post('/v1/messaging/sends', send, key);
    expectStatus(answer, 422);
    await visitor.open(`messages?address=${email}`);
    await page.getByText('La dirección está suprimida').waitFor();
    await visitor.expectUnbroken();
  });

  it('leave by channels whose secrets are set and never shown, and whose settings two may change', async () => {
    const visitor = await bench.ownerBackAt('messages/channels?open=sms');
    const { page, dialog } = visitor;
    await dialog.getByLabel('Proveedor').selectOption('twilio');
    await dialog.getByLabel('Remitente').fill('+56961234567');
    await dialog.getByLabel('SID de la cuenta').fill(`AC${'0'.repeat(32)}`);
    await dialog.getByLabel('Token de autenticación').fill(SECRET);
    await dialog.getByRole('button', { name: 'Guardar canal' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const sms = page.getByRole('group', { name: 'SMS' });
    await sms.getByText('definido').waitFor();
    expect(await page.content()).not.toContain(SECRET);

    await page.getByRole('checkbox', { name: 'Horario de silencio' }).check();
    const path = '/v1/messaging/channel-settings';
    const { body } = await bench.tenant.admin.get<Record<string, unknown>>(path);
    const quiet_hours = { start: '20:00', end: '07:00', timezone: 'America/Lima' };
    expectStatus(await bench.tenant.admin.call('PUT', path, { body: { ...body, quiet_hours } }), 200);
    await page.getByRole('button', { name: 'Guardar horario y límites' }).click();
    await page.getByRole('alert').getByText('America/Lima').waitFor();
    await page.getByRole('button', { name: 'Guardar mi versión' }).click();
    await page.getByText('Se guardaron el horario de silencio y los límites de frecuencia').first().waitFor();
    const { body: now } = await bench.tenant.admin.get<{ quiet_hours: object; channels: object }>(path);
    expect(now.quiet_hours).toMatchObject({ start: '22:00', end: '08:00' });
    expect(now.channels).toMatchObject({ sms: { provider: 'twilio', auth_token: { set: true } } });
  });
});

describe('points', () => {
  it('come by a rule that is written, are adjusted and reversed, and say what they came from', async () => {
    const event = `visit_${randomUUID().slice(0, 8)}`;
    const { externalId, id, email } = await bench.contact({ first_name: MARKUP });
    const visitor = await bench.ownerBackAt('loyalty/rules?open=new');
    const { page, dialog } = visitor;
    await dialog.getByLabel('Nombre', { exact: true }).fill(`${event} ${MARKUP}`);
    await dialog.getByLabel('Nombre del evento').fill(event);
    await dialog.getByLabel('Cálculo').selectOption('fixed');
    await dialog.getByLabel('Puntos', { exact: true }).fill('7');
    await dialog.getByRole('button', { name: 'Crear regla' }).click();
    await dialog.getByRole('heading', { name: `${event} ${MARKUP}` }).waitFor();
    await bench.track(event, externalId);
    await eventually(async () => {
      await visitor.open(`loyalty?contact_id=${id}`);
      await page.getByRole('cell', { name: '+7', exact: true }).waitFor({ timeout: 3_000 });
    });
    await page.getByRole('cell', { name: 'ganados' }).click();
    await dialog.getByRole('link', { name: 'versión 1 de la regla' }).click();
    await dialog.getByRole('button', { name: 'Editar' }).click();
    await dialog.getByLabel('Puntos', { exact: true }).fill('9');
    await dialog.getByRole('button', { name: 'Guardar regla' }).click();
    await dialog.getByLabel('Versión').selectOption('1');
    await dialog.getByText('7 puntos').waitFor();

    await visitor.open('loyalty');
    await page.getByRole('button', { name: 'Ajustar puntos' }).click();
    await dialog.getByRole('searchbox').fill(email);
    await dialog.getByRole('button', { name: new RegExp(email) }).click();
    await dialog.getByLabel('Puntos').fill('-3');
    await dialog.getByLabel('Motivo').fill(`Devolución ${MARKUP}`);
    await dialog.getByRole('button', { name: 'Ajustar puntos' }).click();
    await page.getByText('-3 puntos').first().waitFor();
    await visitor.open(`loyalty?contact_id=${id}&kind=adjust`);
    await page.getByRole('group', { name: 'Saldo del contacto' }).getByText('4', { exact: true }).waitFor();
    await page.getByRole('cell', { name: 'ajustados' }).click();
    await dialog.getByLabel('Motivo').fill('Fue un error');
    await dialog.getByRole('button', { name: 'Revertir' }).click();
    await dialog.getByText('Revertido por').waitFor();
    await visitor.expectUnbroken();
  });

  it('are all counted on Home, more than a list shows at once', async () => {
    const { id } = await bench.contact();
    const adjust = async (): Promise<void> => {
      const body = { kind: 'adjust', contact_id: id, points: 1_000, reason: 'gift' };
      const key = { 'idempotency-key': randomUUID() };
      expectStatus(await bench.tenant.admin.post('/v1/loyalty/transactions', body, key), 201);
    };
    // A contact that was made this moment is asked about where it is not known yet.
    await eventually(adjust);
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 10 }, adjust));
    const { body } = await bench.tenant.admin.get<{ kinds: { adjust: { count: number; points: number } } }>(
      '/v1/loyalty/summary',
    );
    expect(body.kinds.adjust.count).toBeGreaterThan(200);
    const { page } = await bench.ownerBackAt('');
    const adjusted = page.locator('dl > div').filter({ hasText: 'ajustados' });
    await adjusted.getByText(new Intl.NumberFormat('es-CL').format(body.kinds.adjust.points)).waitFor();
    const sent = await bench.tenant.admin.get<{ totals: { sends: number } }>('/v1/messaging/deliverability');
    const inAll = page.locator('dl > div').filter({ hasText: 'en total' });
    await inAll.getByText(String(sent.body.totals.sends), { exact: true }).waitFor();
    // Nobody is counted as where their message has only come through.
    expect(await page.locator('dl > div').filter({ hasText: 'generando contenido' }).count()).toBe(0);
  });
});

describe('requests of persons', () => {
  it('are taken down, extended, verified, and completed by four receipts, and the person is gone', async () => {
    const { id, email } = await bench.contact({ first_name: MARKUP });
    const visitor = await bench.ownerBackAt('privacy');
    const { page, dialog } = visitor;
    await page.getByRole('button', { name: 'Nueva solicitud' }).click();
    await dialog.getByLabel('Tipo', { exact: true }).selectOption('erasure');
    await dialog.getByRole('searchbox').fill(email);
    await dialog.getByRole('button', { name: new RegExp(email) }).click();
    await dialog.getByLabel('Nota').fill(MARKUP);
    await dialog.getByRole('button', { name: 'Crear solicitud' }).click();
    await dialog.getByRole('heading', { name: 'Solicitud de supresión' }).waitFor();
    await visitor.expectUnbroken();
    await dialog.getByRole('button', { name: 'Prorrogar', exact: true }).click();
    await dialog.getByLabel('Motivo').fill(`Feriado ${MARKUP}`);
    await dialog.getByRole('button', { name: 'Prorrogar 30 días, una vez' }).click();
    await dialog.getByText(`Feriado ${MARKUP}`).waitFor();
    await dialog.getByRole('button', { name: 'Verificar', exact: true }).click();
    await dialog.getByLabel('Cómo se verificó').fill('clave_unica');
    const whom = dialog.getByRole('status').filter({ hasText: 'Vas a borrar todos los datos de' });
    await whom.getByText(email).waitFor();
    await whom.getByText('las notas, las actividades y la pertenencia a listas').waitFor();
    await visitor.expectAccessible();
    await dialog.getByLabel('Entiendo que los datos de la persona').check();
    await dialog.getByRole('button', { name: 'Verificar y borrar' }).click();
    await dialog.getByText('completada').waitFor();
    for (const module of ['core', 'crm', 'loyalty', 'messaging']) {
      const receipt = dialog.getByRole('group', { name: `Recibo de ${module}` });
      await receipt.getByText('verificado').waitFor();
      await receipt.getByText('Firma').waitFor();
    }
    await visitor.expectUnbroken();
    await visitor.expectAccessible();
    await dialog.getByRole('button', { name: 'Cerrar' }).click();
    await visitor.open(`privacy?contact_id=${id}&state=completed`);
    // Nothing else is known of who is gone.
    await visitor.row('supresión').getByText(id).waitFor();
    await visitor.open(`contacts?q=${email}`);
    await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null);
    expect(await page.getByText(email).count()).toBe(0);
  });

  it('for access end in a file to hand over', async () => {
    const { id } = await bench.contact({ first_name: MARKUP });
    const visitor = await bench.ownerBackAt(`privacy?contact_id=${id}&open=new`);
    const { page, dialog } = visitor;
    await dialog.getByRole('button', { name: 'Crear solicitud' }).click();
    await dialog.getByRole('button', { name: 'Verificar', exact: true }).click();
    await dialog.getByLabel('Cómo se verificó').fill('clave_unica');
    await dialog.getByRole('button', { name: 'Verificar y reunir los datos' }).click();
    const coming = page.waitForEvent('download');
    await dialog.getByRole('button', { name: 'Descargar' }).click();
    const file = await coming;
    expect(file.suggestedFilename()).toMatch(/^subject-request-[0-9a-f-]{36}\.zip$/);
    expect(await file.failure()).toBeNull();
    await visitor.expectUnbroken();
    await visitor.expectAccessible();
  });

  it('that staff carries out are completed by what was done', async () => {
    const { id } = await bench.contact({ first_name: MARKUP });
    const visitor = await bench.ownerBackAt(`privacy?contact_id=${id}&open=new`);
    const { dialog } = visitor;
    await dialog.getByLabel('Tipo', { exact: true }).selectOption('opposition');
    await dialog.getByLabel('Propósitos a los que se opone').fill('marketing');
    await dialog.getByRole('button', { name: 'Crear solicitud' }).click();
    await dialog.getByRole('button', { name: 'Verificar', exact: true }).click();
    await dialog.getByLabel('Cómo se verificó').fill('clave_unica');
    await dialog.getByRole('button', { name: 'Verificar a la persona' }).click();
    await dialog.getByRole('button', { name: 'Completar', exact: true }).click();
    await dialog.getByLabel('Qué se hizo').fill(MARKUP);
    await dialog.getByRole('button', { name: 'Completar solicitud' }).click();
    await dialog.getByText('completada').waitFor();
    await dialog.getByText(MARKUP).last().waitFor();
    await visitor.expectUnbroken();
    await visitor.expectAccessible();
  });

  it('are rejected with a ground, found by an identity, and only read by who may only read', async () => {
    const { id, email } = await bench.contact({ first_name: MARKUP });
    const visitor = await bench.ownerBackAt('privacy?open=new');
    const { dialog } = visitor;
    await dialog.getByLabel('Identificar a la persona por').selectOption('identity');
    await dialog.getByLabel('Identificador', { exact: true }).fill(`no-${email}`);
    await dialog.getByRole('button', { name: 'Crear solicitud' }).click();
    await dialog.getByText('Esto se refiere a algo que no existe.').first().waitFor();
    await dialog.getByText('There is no such contact.').first().waitFor();
    await dialog.getByLabel('Identificador', { exact: true }).fill(email);
    await dialog.getByRole('button', { name: 'Crear solicitud' }).click();
    await dialog.getByRole('button', { name: 'Rechazar', exact: true }).click();
    await dialog.getByLabel('Causal').selectOption('not_the_person');
    await dialog.getByLabel('Explicación').fill(MARKUP);
    await dialog.getByRole('button', { name: 'Rechazar solicitud' }).click();
    await dialog.getByText('Dile a la persona por qué').waitFor();
    await dialog.getByText(MARKUP).first().waitFor();
    expect(await dialog.getByText('está oculto').count()).toBe(0);
    await visitor.expectUnbroken();
    await visitor.close();

    const reader = await bench.holderOf('core.subject_requests.read');
    await reader.page
      .getByRole('navigation', { name: 'Menú' })
      .getByRole('link', { name: 'Privacidad' })
      .click();
    await reader.open(`privacy?contact_id=${id}&closed=true`);
    await reader.page.getByRole('cell', { name: id }).waitFor();
    await reader.page.getByRole('cell', { name: 'rechazada' }).click();
    await reader.dialog.getByText('quien solicita no es la persona').waitFor();
    await reader.dialog.getByText('está oculto. Verlo requiere el permiso core.contacts.read').waitFor();
    expect(await reader.dialog.getByText(MARKUP).count()).toBe(0);
    expect(
      await reader.page.getByRole('button', { name: /Nueva solicitud|Prorrogar|Verificar/ }).count(),
    ).toBe(0);
  });
});

describe('who may see a part alone', () => {
  it('is led to it, finds nothing to press, and is told the permission of the rest', async () => {
    const visitor = await bench.holderOf('loyalty.rules.read');
    const { page, menu } = visitor;
    await menu.getByRole('link', { name: 'Fidelización' }).click();
    await visitor.isAt('Reglas');
    expect(await page.getByRole('button', { name: 'Nueva regla' }).count()).toBe(0);
    expect(await menu.getByRole('link', { name: 'Mensajes' }).count()).toBe(0);
    await visitor.goTo('messages/channels');
    await page.getByText('messaging.channels.read').waitFor();
  });
});

describe('the pages', () => {
  itHasNothingToStumbleOver(bench, () => [
    'segments',
    'segments/new',
    'messages',
    'messages/templates',
    'messages/templates/new',
    'messages/routing',
    'messages/routing?open=new',
    'messages/channels',
    'messages/channels?open=email',
    'messages/suppressions',
    'loyalty',
    'loyalty/rules',
    'loyalty/rules?open=new',
    'privacy',
    'privacy?open=new',
  ]);
});
