export const sessionPage = async (_: unknown): Promise<Iterable<string>> => [''];
