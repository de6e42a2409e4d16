import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readUser } from '../src/user.js';

const read = (text) => readUser(Buffer.from(text));

test('a user is read, whatever the order and the white space', () => {
  assert.deepEqual(read(' { "age" : 150 ,  "name":"x", "email" : "y" } '), { name: 'x', email: 'y', age: 150 });
  assert.deepEqual(read('{"name":"","email":"","age":0}'), { name: '', email: '', age: 0 });
});

test('what stands in a string is text, braces, colons and quotes too', () => {
  const user = read(String.raw`{"name":"{\"age\":1,\"age\":2}","email":"\\","age":1}`);
  assert.deepEqual(user, { name: '{"age":1,"age":2}', email: '\\', age: 1 });
});

const refused = {
  'a field that stands twice': '{"name":"a","name":"c","email":"b","age":1}',
  'a field too many': '{"id":1,"name":"a","email":"b","age":1}',
  'a field too few': '{"name":"a","email":"b"}',
  'a field spelt otherwise': '{"Name":"a","email":"b","age":1}',
  'a field by the name of __proto__': '{"__proto__":"a","name":"a","age":1}',
  'an age with an exponent': '{"name":"a","email":"b","age":1e1}',
  'an age with a fraction': '{"name":"a","email":"b","age":1.0}',
  'an age below 0': '{"name":"a","email":"b","age":-1}',
  'an age above 150': '{"name":"a","email":"b","age":151}',
  'an age as text': '{"name":"a","email":"b","age":"1"}',
  'a name as a number': '{"name":1,"email":"b","age":1}',
  'half a surrogate pair': String.raw`{"name":"\ud83d","email":"b","age":1}`,
  NUL: String.raw`{"name":"\u0000","email":"b","age":1}`,
  'no object': '["a","b",1]',
  'no JSON': '{"name":"a","email":"b","age":1,}',
  nothing: '',
};

for (const [what, text] of Object.entries(refused)) {
  test(`${what} makes no user`, () => assert.equal(read(text), undefined));
}

test('bytes that are no UTF-8 make no user', () => {
  const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('","email":"b","age":1}')]);
  assert.equal(readUser(body), undefined);
});
