import { Problem } from '@customer-platform/problem-json';
import { readShape } from '../shapes/read-shape.js';
import { chooseLocale, sourcesOf, templateContent } from './template-content.js';
import { completeData } from './template-data.js';

const EMAIL = { subject: 'Hi {{ data.name }}', html: '<p>Hi</p>' };

function refusals(content: object): unknown {
  const whole = {
    default_locale: 'es',
    locales: { es: EMAIL },
    variables: {},
    strict: true,
    layout: null,
    ...content,
  };
  try {
    readShape(templateContent('email'), whole, '');
  } catch (error) {
    if (error instanceof Problem) return error.errors?.map(({ pointer, code }) => `${pointer} ${code}`);
    throw error;
  }
  return [];
}

describe('the content of an e-mail template', () => {
  it.each([
    [{}, []],
    [{ locales: { es: { subject: 's', text: 't' } } }, []],
    [{ locales: { es: { subject: 's' } } }, ['/locales/es/html required']],
    [{ locales: { es: { html: 'h' } } }, ['/locales/es/subject required']],
    [{ locales: { es: { ...EMAIL, htlm: 'x' } } }, ['/locales/es/htlm unknown_field']],
    [{ locales: { es: { ...EMAIL, mjml: '<mjml/>' } } }, ['/locales/es/mjml not_allowed']],
    [{ locales: { es: { subject: 's', mjml: '<mjml/>' } } }, []],
    [{ locales: { es: { subject: 's', mjml: 5 } } }, ['/locales/es/mjml wrong_type']],
    [{ locales: { es: { ...EMAIL, subject: 5 } } }, ['/locales/es/subject wrong_type']],
    [{ locales: { es: { ...EMAIL, subject: 'x'.repeat(501) } } }, ['/locales/es/subject too_long']],
    [{ locales: { 'not a locale': EMAIL, es: EMAIL } }, ['/locales/not a locale invalid_format']],
    [{ default_locale: 'en' }, ['/default_locale invalid_enum']],
    [{ variables: { name: { type: 'text' } } }, ['/variables/name/type invalid_enum']],
    [{ variables: { name: { type: 'string', default: 5 } } }, ['/variables/name/default wrong_type']],
    [{ variables: { 'a b': { type: 'string' } } }, ['/variables/a b invalid_format']],
  ])('%j', (content, expected) => {
    expect(refusals(content)).toEqual(expected);
  });

  it('knows which parts are headers, HTML and text', () => {
    const modes = sourcesOf({ subject: 'a', html: 'b', text: 'c' }).map(({ name, mode }) => [name, mode]);
    expect(modes).toEqual([
      ['subject', 'line'],
      ['html', 'html'],
      ['text', 'text'],
    ]);
  });
});

describe('chooseLocale', () => {
  const available = ['en', 'es', 'pt-BR'];
  it.each([
    [['es-CL'], 'es'],
    [['ES-cl', 'en'], 'es'],
    [['fr-FR', 'pt-br'], 'pt-BR'],
    [['pt'], 'en'],
    [[null, undefined, ''], 'en'],
    [['zh-Hant-TW', 'es'], 'es'],
  ])('%j', (wishes, expected) => {
    expect(chooseLocale(available, wishes, 'en')).toBe(expected);
  });
});

describe('completeData', () => {
  const variables = {
    name: { type: 'string' as const, required: true },
    greeting: { type: 'string' as const, required: false, default: 'Hola' },
    note: { type: 'string' as const, required: false },
    items: { type: 'array' as const, required: false },
  };

  it('fills in defaults and keeps what is not declared', () => {
    expect(completeData(variables, { name: 'Ana', other: 1 })).toEqual({
      data: { name: 'Ana', greeting: 'Hola', note: null, items: null, other: 1 },
      errors: [],
    });
  });

  it('names what is missing and what is of another type', () => {
    expect(completeData(variables, { items: 'a' }).errors).toEqual([
      expect.objectContaining({ pointer: '/data/name', code: 'required' }),
      expect.objectContaining({ pointer: '/data/items', code: 'wrong_type' }),
    ]);
    expect(completeData(variables, { name: null }).errors).toHaveLength(1);
  });
});
