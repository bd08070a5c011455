mptrain list ops --verbos
