import { execute, rowSecurity } from '@customer-platform/database';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What a contact is found by (core.md §13, `q`): in an order in which all that begins alike stands together, whatever
 * the database's own. Beside `contacts`, for a contact has several; without a foreign key, whose check would cost each
 * of them more than the row: the triggers take them away.
 */
const CONTACT_WORDS = `CREATE TABLE contact_words (
  organization_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  word text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, contact_id, word)
)`;

/** Text as it is compared: without case and accents. Plain ASCII, which most is, takes the short way. */
const SEARCH_FORM = String.raw`CREATE FUNCTION search_form(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN octet_length(given) = length(given) THEN lower(given)
              ELSE lower(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g')) END
$$`;

/** Of a text in that form what is kept of a word: a number is found with and without its plus, a long one by its beginning. */
const SEARCH_WORD = `CREATE FUNCTION search_word(form text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT left(ltrim(form, '+'), 100)
$$`;

/** Names by their words and the parts of these, "García-Márquez" by "márquez" too; identifiers as they are. */
const WORDS_OF_CONTACT = String.raw`
CREATE FUNCTION words_of_contact(names text[], identifiers text[]) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT DISTINCT search_word(found.form)
    FROM (SELECT search_form(identifier) FROM unnest(identifiers) AS identifier
          UNION ALL
          SELECT word
            FROM unnest(names) AS name,
                 translate(search_form(name), E'\t\n\v\f\r', '     ') AS form,
                 string_to_table(form || ' ' || translate(form, '-''’.', '    '), ' ') AS word
         ) AS found (form)
   WHERE search_word(found.form) <> ''
   LIMIT 100
$$`;

const OF = (contact: string): string =>
  `words_of_contact(ARRAY[${contact}.first_name, ${contact}.last_name], ARRAY[${contact}.email, ${contact}.phone, ${contact}.external_id])`;

const ADD = `CREATE FUNCTION add_contact_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO contact_words (organization_id, contact_id, word)
  SELECT contact.organization_id, contact.id, word FROM new_contacts AS contact, ${OF('contact')} AS word;
  RETURN NULL;
END $$`;

const REPLACE = `CREATE FUNCTION replace_contact_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM contact_words WHERE organization_id = OLD.organization_id AND contact_id = OLD.id;
  IF TG_OP = 'UPDATE' THEN
    INSERT INTO contact_words (organization_id, contact_id, word)
    SELECT NEW.organization_id, NEW.id, word FROM ${OF('NEW')} AS word;
  END IF;
  RETURN NULL;
END $$`;

const SEARCHED = ['first_name', 'last_name', 'email', 'phone', 'external_id'];
const all = (row: string): string => SEARCHED.map((column) => `${row}.${column}`).join(', ');

/** By triggers: whichever release writes a contact, its words are with it in the same transaction. */
const TRIGGERS = [
  `CREATE TRIGGER contact_words_added AFTER INSERT ON contacts REFERENCING NEW TABLE AS new_contacts
     FOR EACH STATEMENT EXECUTE FUNCTION add_contact_words()`,
  `CREATE TRIGGER contact_words_replaced AFTER UPDATE ON contacts
     FOR EACH ROW WHEN ((${all('OLD')}) IS DISTINCT FROM (${all('NEW')})) EXECUTE FUNCTION replace_contact_words()`,
  `CREATE TRIGGER contact_words_removed AFTER DELETE ON contacts
     FOR EACH ROW EXECUTE FUNCTION replace_contact_words()`,
];

/** The words by which people are searched. Those of contacts that are there already come with the next migration. */
export class CreateContactWords1767100000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      CONTACT_WORDS,
      'CREATE INDEX contact_words_by_word ON contact_words (organization_id, word, contact_id)',
      ...rowSecurity('contact_words', { worker: true }),
      SEARCH_FORM,
      SEARCH_WORD,
      WORDS_OF_CONTACT,
      ADD,
      REPLACE,
      ...TRIGGERS,
    ]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await execute(runner, [
      ...['added', 'replaced', 'removed'].map((name) => `DROP TRIGGER contact_words_${name} ON contacts`),
      'DROP FUNCTION replace_contact_words(), add_contact_words(), words_of_contact(text[], text[])',
      'DROP FUNCTION search_word(text), search_form(text)',
      'DROP TABLE contact_words',
    ]);
  }
}
