/** True in `npm run test:long`, where a test tries everything of which `npm test` tries a part. */
export const LONG: boolean = process.env['TEST_LONG'] === '1';
