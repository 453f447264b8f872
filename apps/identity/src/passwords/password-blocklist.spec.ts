import { whyBlocked } from './password-blocklist.js';

const ANA = ['Ana Rojas', 'ana.rojas@tienda.example', 'Tienda del Sur', 'tienda-sur'];

describe('a password that is refused', () => {
  it.each([
    ['qwerty123456789', 'common'],
    ['PasswordPassword', 'common'],
    ['123456789987654321', 'common'],
    ['iloveyou2026!!!', 'common'],
    ['P@ssw0rd2026!!!', 'common'],
    ['!!!2026 superman', 'common'],
    ['aaaaaaaaaaaaaaaa', 'repeats'],
    ['abcabcabcabcabcab', 'repeats'],
    ['superman.superman.superman.', 'own'],
    ['abcdefghijklmnopq', 'sequence'],
    ['poiuytrewq09876', 'sequence'],
    ['asdfghjklzxcvbnm', 'sequence'],
    ['AnaRojas2026!!!!', 'own'],
    ['tiendadelsur-2026', 'own'],
    ['rojas.rojas.ana.1', 'own'],
    ['RojasAna-2026!!', 'own'],
    ['ana.2026!!!!!!!', 'own'],
    ['AnaRojas19840312', 'own'],
    ['xRojasAna2026!!', 'own'],
    ['customer-platform-1', 'own'],
    ['４５６７８９０１２３４５６７８', 'sequence'],
  ])('%s', async (password) => {
    expect(await whyBlocked(password, ANA)).toBeDefined();
  });
});

describe('a password that is taken', () => {
  it.each([
    'correct horse battery staple',
    'tres tristes tigres tragaban trigo',
    'Xk3-9vQ!mmo2-Pz8',
    'ana compra pan todos los martes',
    '92746153840271659',
    'ñandú ñandú qué frío en Ñuble',
    // Words with a short part of the name in them, which are no part of it.
    'banana mañana 1',
    'delfin surfer 12',
    'ana-7391-5502-8846',
  ])('%s', async (password) => {
    expect(await whyBlocked(password, ANA)).toBeUndefined();
  });

  it('is judged by what is known of its owner: a name says nothing about others', async () => {
    expect(await whyBlocked('gabriela-mistral-1945', ['Gabriela Mistral'])).toBeDefined();
    expect(await whyBlocked('gabriela-mistral-1945', ANA)).toBeUndefined();
  });
});
